from __future__ import annotations

import torch

from equipoise.client.trace import Trace, numbers
from equipoise.core.values import Losses, Weighed


def losses(align: float | None = None) -> Losses:
    parts = {"cls": torch.tensor(0.5), "aux": torch.tensor(0.25)}
    term = None if align is None else torch.tensor(align)
    return Losses(torch.tensor(0.75), term, parts, torch.tensor(0.5))


def test_one_step_without_alignment():
    weighed = Weighed(torch.tensor(0.75), None, lam=0.0)
    assert numbers(losses(), weighed, norm=2.0, factor=0.5) == {
        "loss/base": 0.75,
        "loss/cls": 0.5,
        "loss/aux": 0.25,
        "accuracy/train": 0.5,
        "grad/norm": 2.0,
        "grad/clip": 0.5,
    }


def test_with_alignment_the_numbers_that_were_used_are_written_down():
    weighed = Weighed(torch.tensor(1.0), None, lam=3.0, schedule=0.5, used=1.5, scale=0.75)
    step = numbers(losses(4.0), weighed, norm=2.0, factor=1.0)
    names = ("loss/align", "lam", "schedule", "lam/used", "scale/base")
    assert [step[name] for name in names] == [4.0, 3.0, 0.5, 1.5, 0.75]


def test_what_a_policy_saw_beside_lam_is_written_down():
    weighed = Weighed(torch.tensor(1.0), None, lam=3.0, seen={"sigma2/base": 0.5})
    assert numbers(losses(4.0), weighed, norm=2.0, factor=1.0)["sigma2/base"] == 0.5


def test_means_over_the_steps():
    trace = Trace()
    for value in (1.0, 2.0, 6.0):
        trace.add({"loss": value, "norm": 10 * value})
    assert trace.means() == {"loss": (1 + 2 + 6) / 3, "norm": (10 + 20 + 60) / 3}
    assert trace.steps == 3
    assert trace.last == {"loss": 6.0, "norm": 60.0}


def test_a_number_of_some_steps_is_the_mean_of_those():
    trace = Trace()
    for step in ({"loss": 1.0, "grad/cosine": 0.5}, {"loss": 2.0}, {"loss": 3.0, "grad/cosine": -0.25}):
        trace.add(step)
    assert trace.means() == {"loss": 2.0, "grad/cosine": (0.5 - 0.25) / 2}


def test_of_lam_the_last_step_is_kept_beside_the_mean():
    trace = Trace()
    for lam in (1.0, 5.0):
        trace.add({"lam": lam, "schedule": 1 / lam, "lam/used": 2 * lam, "scale/base": 1.0, "loss/base": lam})
    means = trace.means()
    assert (means["lam"], means["lam/last"]) == (3.0, 5.0)
    assert (means["lam/used"], means["lam/used/last"]) == (6.0, 10.0)
    assert (means["schedule/last"], means["scale/base/last"]) == (0.2, 1.0)
    assert "loss/base/last" not in means


def test_a_client_that_took_no_step_has_no_means():
    assert Trace().means() == {}
