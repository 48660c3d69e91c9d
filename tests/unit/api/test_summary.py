from __future__ import annotations

from typing import Any

from rich.console import Console

from equipoise.api.summary import headline, rest, servers

METRICS = {
    "accuracy/merged": 0.98, "accuracy/validation": 0.97, "accuracy/merged/common-gate": 0.98,
    "accuracy/validation/common-gate": 0.97, "accuracy/merged/feature-average": 0.31,
    "accuracy/validation/feature-average": 0.30, "accuracy/clients": 0.2, "bytes/up": 8.0, "recall/0": 1.0,
}  # fmt: skip


def document(**changes: Any) -> dict[str, Any]:
    known = {"headline": "accuracy/merged", "metrics": METRICS, "best": {"step": 3, "value": 0.985}}
    more = {"predict": ["common-gate"], "events": [], "findings": [], "bytes": {"down": 8.0, "up": 8.0}}
    return {**known, **more, **changes}


def printed(table: Any) -> str:
    console = Console(width=100)
    with console.capture() as out:
        console.print(table)
    return out.get()


def test_the_headline_comes_first_and_copies_are_folded() -> None:
    assert next(headline(document())) == "[bold]accuracy/merged 98.00 %[/]  (validation 97.00 %)"
    listed = printed(servers(document())).splitlines()
    assert len(listed) == 3, "every server has one line, with both figures"
    assert listed[1].split() == ["common-gate", "←", "this", "run", "98.00", "%", "97.00", "%"]
    assert [row.split()[0] for row in printed(rest(document())).splitlines()] == [
        "metric", "accuracy/clients", "bytes", "bytes",
    ]  # fmt: skip


def test_what_the_server_before_the_healing_has_stands_beside() -> None:
    said = list(headline(document(predict=["feature-average", "common-gate"])))
    assert said[-1] == "with 'feature-average', the server before it was healed, 31.00 %"


def test_that_a_run_stopped_early_is_said() -> None:
    events = [{"kind": "stopped-early", "message": "stopped early at round 3 of 10"}]
    assert list(headline(document(events=events)))[-1] == "stopped early at round 3 of 10"
