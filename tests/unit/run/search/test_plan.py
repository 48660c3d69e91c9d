"""A search file: what it may hold, and that everything wrong with it is said at once, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.core.errors import ConfigError
from equipoise.run.grid import load_grid
from equipoise.run.search.plan import SearchWay, load_search
from equipoise.run.search.space import SearchChoice, SearchRange

from .conftest import Planned


def problems(error: pytest.ExceptionInfo[ConfigError]) -> list[str]:
    return [str(each) for each in error.value.problems]


def test_ranges_and_lists_by_any_name_of_their_key(planned: Planned) -> None:
    plan = planned(
        "lr: {low: 1e-4, high: 1e-1, log: true}, client: {epochs: {low: 1, high: 5}}, method: [fedavg, moon]"
    )
    assert plan.space == {
        "client.lr": SearchRange(1e-4, 1e-1, log=True),
        "client.epochs": SearchRange(1, 5, is_whole=True),
        "method.name": SearchChoice(("fedavg", "moon")),
    }


def test_a_range_between_whole_numbers_of_a_setting_that_is_none_is_not_whole(planned: Planned) -> None:
    assert planned("server.fraction: {low: 0.5, high: 1}").space["server.fraction"] == SearchRange(0.5, 1)
    assert planned("partition.alpha: {low: 1, high: 10}").space["partition.alpha"] == SearchRange(1, 10)


def test_the_command_fixes_a_key_and_adds_a_list(planned: Planned) -> None:
    ranges = "client.lr: {low: 0.01, high: 0.1}, client.epochs: {low: 1, high: 2}"
    plan = planned(ranges, "lr=0.05", "client.batch=16,32")
    assert set(plan.space) == {"client.epochs", "client.batch"}
    config = plan.config({"client.epochs": 2, "client.batch": 16}, seed=4)
    assert (config.client.lr, config.client.epochs, config.client.batch, config.seed) == (0.05, 2, 16, 4)


def test_a_listed_value_may_be_a_block(planned: Planned) -> None:
    plan = planned("method: [fedavg, {name: fedprox, mu: 0.3}]")
    config = plan.config({"method.name": {"name": "fedprox", "mu": 0.3}}, seed=0)
    assert (config.method.name, config.method.model_dump()["mu"]) == ("fedprox", 0.3)


def test_more_trials_are_the_same_search_and_anything_else_is_another(planned: Planned) -> None:
    ranges = "client.lr: {low: 0.01, high: 0.1}"
    first = planned(ranges).fingerprint()
    assert planned(ranges, trials=30).fingerprint() == first
    others = [
        planned(ranges, seeds=2),
        planned(ranges, search_seed=1),
        planned(ranges, sampler="random"),
        planned(ranges, "rounds=4"),
        planned("client.lr: {low: 0.02, high: 0.1}"),
    ]
    assert len({first, *(each.fingerprint() for each in others)}) == 6


def test_one_seed_unless_given(planned: Planned) -> None:
    assert planned("client.lr: {low: 0.01, high: 0.1}").seeds == [0]
    assert planned("client.lr: {low: 0.01, high: 0.1}", seeds="3").seeds == [0, 1, 2]


@pytest.mark.parametrize(
    ("ranges", "said"),
    [
        ("client.lr: {low: 0.1, high: 0.1}", "search.client.lr: low must be below high, got 0.1 and 0.1"),
        ("client.lr: {low: 0, high: 0.1, log: true}", "search.client.lr: a logarithmic range begins above zero"),
        ("client.lr: {low: 0.1}", "search.client.lr: a range needs high"),
        ("client.lr: {low: 0.1, high: 1, steps: 3}", "unknown key 'steps' in a range"),
        ("client.lr: {low: 0.1, high: 1, step: 2}", "step must be above zero and at most high − low, got 2"),
        ("client.lr: {low: 0.1, high: 1, step: 0.1, log: true}", "a logarithmic range has no step"),
        ("client.lr: {low: small, high: 1}", "low: expected a number, got 'small'"),
        ("client.lr: {low: 0.1, high: 1, log: 2}", "log: expected true or false, got 2"),
        ("client.lr: 0.1", "expected a range such as {low: 0.1, high: 1} or a list of values, got 0.1"),
        ("client.lr: [0.1]", "a list needs two values or more, got [0.1]"),
        ("client.lr: [0.1, 0.2, 0.1]", "0.1 stands there twice"),
        ("lr: [0.1, 0.2], client.lr: [0.3, 0.4]", "search.client.lr: stands there twice"),
    ],
)
def test_a_range_that_is_none(planned: Planned, ranges: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        planned(ranges)
    assert any(said in problem for problem in problems(refused)), problems(refused)


def test_both_ends_and_every_value_are_held_against_the_schema_all_problems_at_once(planned: Planned) -> None:
    with pytest.raises(ConfigError) as refused:
        planned(
            "client.lr: {low: -0.1, high: 0.1}, client.epochs: {low: 0.5, high: 3}, server.fraction:"
            " {low: 0.5, high: 2}, method: [fedavg, fedpix], client.lrr: {low: 1, high: 2}"
        )
    text = "\n".join(problems(refused))
    for said in (
        "client.lr:",
        "got -0.1",
        "client.epochs",
        "server.fraction",
        "got 2",
        "fedpix",
        "did you mean",
        "lrr",
    ):
        assert said in text


@pytest.mark.parametrize("key", ["engine.deterministic", "balance.name"])
def test_a_range_of_what_is_no_number_is_refused(planned: Planned, key: str) -> None:
    with pytest.raises(ConfigError) as refused:
        planned(f"{key}: {{low: 0, high: 1}}")
    assert any(key.removesuffix(".name") in problem for problem in problems(refused))


def test_a_seed_cannot_be_searched(planned: Planned) -> None:
    with pytest.raises(ConfigError, match="give --seeds"):
        planned("seed: [1, 2]")


@pytest.mark.parametrize("rest", ["cells: {A: {method: fedavg}}", "grid: {partition.alpha: [0.1, 1]}"])
def test_rows_and_axes_are_a_grids(tmp_path: Path, rest: str) -> None:
    (tmp_path / "a.yaml").write_text(f"search: {{client.lr: [0.1, 0.2]}}\n{rest}\n")
    with pytest.raises(ConfigError, match="list the values under search:"):
        load_search(str(tmp_path / "a.yaml"), (), SearchWay(3))


def test_a_grid_does_not_pass_over_ranges(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("search: {client.lr: {low: 0.1, high: 0.2}}\n")
    with pytest.raises(ConfigError, match="--search optuna"):
        load_grid(str(tmp_path / "a.yaml"))


@pytest.mark.parametrize("content", ["search: {}", "search: 3", "search: [client.lr]"])
def test_nothing_to_vary(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.yaml").write_text(f"preset: fedavg\n{content}\n")
    with pytest.raises(ConfigError, match="search: "):
        load_search(str(tmp_path / "a.yaml"), (), SearchWay(3))


def test_a_stream_has_no_validation_and_is_not_searched_on_test() -> None:
    with pytest.raises(ConfigError, match="never chooses by test"):
        load_search("rec/sasrec", ["data.split=slices", "rounds=9", "client.lr=0.1,0.2"], SearchWay(3))


def test_a_way_that_is_none_says_everything_that_is_wrong_with_it() -> None:
    with pytest.raises(ConfigError) as refused:
        SearchWay(0, "grid", "best", -1).require()
    assert [problem.path for problem in refused.value.problems] == [
        "--trials",
        "--search-seed",
        "--sampler",
        "--pruner",
    ]


def test_many_lists_are_checked_value_by_value(planned: Planned) -> None:
    lists = "client.batch: [8, 16, 24, 32, 40], client.momentum: [0, 0.5, 0.9, 0.95], client.lr: [0.1, 0.2, 0.3, -1.0]"
    with pytest.raises(ConfigError, match=r"client.lr.*got -1.0"):
        planned(lists)
