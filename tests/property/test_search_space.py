"""Ranges: whatever is drawn lies within, and what is no range is refused."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from equipoise.run.search.optuna_study import Outcome, suggested
from equipoise.run.search.plan import SearchPlan, SearchWay
from equipoise.run.search.space import SearchChoice, SearchRange, corners, read_space

numbers = st.floats(1e-6, 1e6, allow_nan=False)


@st.composite
def ranges(draw: st.DrawFn) -> SearchRange:
    low = draw(numbers)
    high = low * draw(st.floats(1.001, 1e4))
    if draw(st.booleans()):
        first = draw(st.integers(1, 100))
        return SearchRange(first, first + draw(st.integers(1, 100)), log=draw(st.booleans()), is_whole=True)
    if draw(st.booleans()):
        return SearchRange(low, high, log=True)
    step = (high - low) / draw(st.integers(1, 20))
    return SearchRange(low, high, step=draw(st.sampled_from([None, step])))


axes = st.one_of(ranges(), st.lists(st.integers(), min_size=2, max_size=5, unique=True).map(tuple).map(SearchChoice))
spaces = st.dictionaries(st.sampled_from("abcde"), axes, min_size=1, max_size=4)


def lies_within(axis: SearchRange | SearchChoice, value: object) -> bool:
    if isinstance(axis, SearchChoice):
        return value in axis.values
    return isinstance(value, int if axis.is_whole else float | int) and axis.low <= value <= axis.high


@tried(max_examples=40)
@given(spaces, st.integers(0, 1000), st.sampled_from(["tpe", "random"]), st.lists(st.floats(0, 1), max_size=12))
def test_what_is_drawn_lies_within_its_range(space, search_seed, sampler, scores) -> None:
    plan = SearchPlan("s", False, {}, {}, space, [0], SearchWay(20, sampler, search_seed=search_seed), None)
    known: list[Outcome] = []
    for score in [*scores, 0.0]:
        drawn = suggested(plan, known)
        assert drawn.keys() == space.keys()
        assert all(lies_within(axis, drawn[key]) for key, axis in space.items())
        assert drawn == suggested(plan, known)
        known.append(Outcome(drawn, "done", score))


@given(ranges(), st.floats(0, 1))
def test_rounding_stays_within_the_range_and_near(axis: SearchRange, share: float) -> None:
    value = axis.low + share * (axis.high - axis.low)
    rounded = axis.rounded(value)
    assert axis.low <= rounded <= axis.high
    assert abs(rounded - value) <= (0.5 if axis.is_whole else 1e-3 * abs(value))


@given(spaces)
def test_corners_are_within_and_hold_every_listed_value_and_both_ends(space) -> None:
    found = corners(space)
    for key, axis in space.items():
        seen = [each[key] for each in found]
        assert all(
            lies_within(replace(axis, is_whole=False) if isinstance(axis, SearchRange) else axis, v) for v in seen
        )
        wanted = axis.values if isinstance(axis, SearchChoice) else (axis.low, axis.high)
        assert set(seen) == set(wanted)


@given(numbers, numbers, st.booleans())
def test_a_range_is_read_exactly_if_its_low_end_is_lower(low: float, high: float, log: bool) -> None:
    space, problems = read_space({"client.lr": {"low": low, "high": high, "log": log}})
    assert bool(problems) == (low >= high)
    assert space == ({} if problems else {"client.lr": SearchRange(low, high, log)})
