from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from pydantic import ValidationError

from equipoise.core.values import Images
from equipoise.data.synthetic import SyntheticOptions, synthetic, templates


def nearest(images: Images, options: SyntheticOptions) -> np.ndarray:
    centres = (0.5 + options.signal * templates(options)).reshape(options.classes, -1)
    shares = (images.pixels / 255).reshape(len(images), -1)
    distance = ((shares[:, None] - centres[None]) ** 2).sum(axis=2)
    return distance.argmin(axis=1)


def test_without_noise_an_image_is_its_template():
    options = SyntheticOptions(noise=0, train=20, test=10)
    dataset = synthetic(options, None)
    expected = np.rint(255 * (0.5 + 0.1 * templates(options)[dataset.train.labels]).clip(0, 1))
    assert np.array_equal(dataset.train.pixels, expected)


def test_nearest_template_errs_as_often_as_the_formula_says():
    options = SyntheticOptions(classes=2, signal=0.03, noise=0.14, train=2, test=4000)
    wrong = (nearest(synthetic(options, None).test, options) != synthetic(options, None).test.labels).mean()
    first, second = templates(options)
    gap = 0.03 * np.sqrt(((first - second) ** 2).sum())
    expected = NormalDist().cdf(-gap / (2 * 0.14))
    deviation = np.sqrt(expected * (1 - expected) / 4000)
    assert 0.005 < expected < 0.2
    assert abs(wrong - expected) < 4 * deviation


def test_no_fitted_linear_answer_beats_the_nearest_template():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    options = SyntheticOptions(signal=0.05, train=2000, test=2000)
    dataset = synthetic(options, None)
    known = (nearest(dataset.test, options) == dataset.test.labels).mean()
    fitted = LinearDiscriminantAnalysis().fit(dataset.train.pixels.reshape(2000, -1), dataset.train.labels)
    learned = fitted.score(dataset.test.pixels.reshape(2000, -1), dataset.test.labels)
    assert learned < known < 1


def test_templates_are_smooth_with_unit_strength_and_no_mean():
    for pattern in templates(SyntheticOptions(size=16)):
        assert np.isclose((pattern**2).mean(), 1)
        assert np.allclose(pattern.mean(axis=(1, 2)), 0)
        frequencies = np.abs(np.fft.rfft2(np.concatenate([pattern, pattern[:, ::-1]], axis=1)[:, :, :16]))
        assert (frequencies[:, 3:-2, 0] < 1e-9).all()


def test_same_generator_seed_same_images_other_seed_other_images():
    first, second = (synthetic(SyntheticOptions(), None) for _ in range(2))
    other = synthetic(SyntheticOptions(generator_seed=1), None)
    assert np.array_equal(first.train.pixels, second.train.pixels)
    assert not np.array_equal(first.train.pixels, other.train.pixels)


def test_more_training_images_leave_the_test_images_alone():
    small, large = (synthetic(SyntheticOptions(train=train), None) for train in (100, 200))
    assert np.array_equal(small.test.pixels, large.test.pixels)


def test_counts_shapes_and_balance():
    dataset = synthetic(SyntheticOptions(classes=4, size=6, train=40, test=8), None)
    assert dataset.train.pixels.shape == (40, 3, 6, 6)
    assert np.bincount(dataset.train.labels).tolist() == [10] * 4
    assert np.bincount(dataset.test.labels).tolist() == [2] * 4
    assert np.allclose(dataset.mean, (dataset.train.pixels / 255).mean(axis=(0, 2, 3)))
    assert len(dataset.classes) == 4


@pytest.mark.parametrize("wrong", [{"classes": 1}, {"size": 2}, {"noise": -1.0}, {"signal": 0.0}, {"tests": 3}])
def test_options_out_of_range_are_refused(wrong):
    with pytest.raises(ValidationError):
        SyntheticOptions(**wrong)
