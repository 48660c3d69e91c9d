"""What every model promises."""

from __future__ import annotations

import pytest

from equipoise.core.registry import MODELS
from equipoise.testing import models
from tests.backbones import written
from tests.conftest import for_images

NARROW = {
    "linear": (),
    "mlp": ("model.hidden=8",),
    "cnn": ("model.width=4", "model.features=8"),
    "filters": ("model.filters=2",),
    "patches": ("model.filters=4", "model.kept=3"),
}


@pytest.fixture(params=for_images(MODELS))
def config(request, tmp_path):
    files = written(tmp_path)[1:] if request.param == "backbone" else ("model.width=2",)
    return models.config_of(request.param, *NARROW.get(request.param, files))


def test_a_state_is_taken_up_again_under_the_same_names_after_the_codec(config):
    models.state_survives_the_codec(config)


def test_names_do_not_depend_on_the_seed(config):
    models.names_do_not_depend_on_the_seed(config)


def test_every_parameter_gets_a_gradient(config):
    models.every_parameter_gets_a_gradient(config)


def test_it_is_trained_merged_and_scored_the_same_every_time(config):
    models.training_is_the_same_every_time(config)
