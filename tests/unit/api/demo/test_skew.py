"""The sentence about skew follows from the numbers, whichever way they turn out."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from equipoise.api.demo.part import CONTROL, Seeds
from equipoise.api.demo.skew import told

SKEWS = ("α 0.01", "α 0.5", "iid")


def curve(*means: float) -> Mapping[str, Seeds]:
    """Two seeds, one point around each mean."""
    return {at: {0: mean - 0.01, 1: mean + 0.01} for at, mean in zip(SKEWS, means, strict=True)}


@pytest.mark.parametrize(
    ("means", "said"),
    [
        ((0.98, 0.98, 0.98), "analytic is flat, at 98.0 %"),
        ((0.978, 0.98, 0.981), "analytic is flat, between 97.8 and 98.1 %"),
        ((0.60, 0.90, 0.98), "analytic falls from 98.0 to 60.0 %"),
        ((0.90, 0.60, 0.98), "analytic falls from 98.0 to 60.0 %"),
        ((0.98, 0.90, 0.85), "analytic is not flat, between 85.0 and 98.0 %"),
    ],
)
def test_ours_is_called_flat_only_where_it_is(means: tuple[float, ...], said: str) -> None:
    part = told({"analytic": curve(*means)}, {"analytic": 222_200})
    assert part.says == f"Accuracy from α 0.01 to iid: {said}."


def test_every_method_has_a_clause_a_row_and_its_bytes() -> None:
    curves = {"analytic": curve(0.98, 0.98, 0.98), "FedAvg": curve(0.3, 0.7, 0.95), CONTROL: curve(0.97, 0.97, 0.97)}
    part = told(curves, {"analytic": 222_200, "FedAvg": 283_800, CONTROL: 5_355_720})
    assert part.says.endswith("FedAvg falls from 95.0 to 30.0 %; the untrained control is flat, at 97.0 %.")
    assert list(part.columns) == ["method", *SKEWS, "sent up"]
    assert part.rows[1] == ["FedAvg", "30.0 ± 1.4", "70.0 ± 1.4", "95.0 ± 1.4", "284 kB"]
    assert [row["method"] for row in part.numbers] == ["analytic", "FedAvg", CONTROL]
    assert part.numbers[1]["accuracy"]["iid"]["mean"] == pytest.approx(0.95)
    assert part.numbers[1]["bytes_up"] == 283_800
