"""What the process that imports says, and what it died of."""

from __future__ import annotations

import json

from equipoise.api.doctor.checkup import Checkup, is_green
from equipoise.api.doctor.child import manner, said

CPU = Checkup("devices", "cpu", "ok", "2 threads")


def lines(*documents: dict) -> str:
    return "".join(json.dumps(each) + "\n" for each in documents)


def test_a_process_that_came_to_its_end_says_what_it_found() -> None:
    out = lines({"begins": "devices"}, {"ends": "devices", "found": [CPU.to_json()]})
    assert said(out, "", "") == [CPU]


def test_what_was_begun_and_not_ended_is_what_it_died_of() -> None:
    out = lines({"begins": "numpy"}, {"ends": "numpy", "found": []}, {"begins": "torch"})
    (dead,) = said(out, manner(-11), "noise\nIllegal instruction")
    assert (dead.part, dead.name, dead.state) == ("packages", "torch", "broken")
    assert dead.says.startswith("ended Python with signal 11 (SIGSEGV): Illegal instruction")
    assert not is_green([CPU, dead])


def test_a_note_is_green() -> None:
    assert is_green([CPU, Checkup("extras", "ray", "note", "missing: ray")])
