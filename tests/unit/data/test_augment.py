from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from equipoise.data.augment import normalise, two_views

MEAN, STD = (0.5, 0.4, 0.3), (0.2, 0.25, 0.5)


@pytest.fixture
def pixels() -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randint(0, 256, (16, 3, 12, 12), generator=generator, dtype=torch.uint8)


def unnormalised(views: torch.Tensor) -> torch.Tensor:
    return views * torch.tensor(STD).view(1, 3, 1, 1) + torch.tensor(MEAN).view(1, 3, 1, 1)


def test_normalise_by_hand():
    pixels = torch.tensor([255, 51, 0], dtype=torch.uint8).view(1, 3, 1, 1)
    expected = torch.tensor([(1 - 0.5) / 0.2, (0.2 - 0.4) / 0.25, (0 - 0.3) / 0.5])
    seen = normalise(pixels, MEAN, STD)
    assert seen.dtype == torch.float32
    assert torch.allclose(seen.view(3), expected)


def test_one_channel_becomes_three():
    grey = torch.full((2, 1, 4, 4), 102, dtype=torch.uint8)
    seen = normalise(grey, (0.4,) * 3, (0.1, 0.2, 0.3))
    assert seen.shape == (2, 3, 4, 4)
    assert torch.allclose(seen, torch.zeros(1), atol=1e-6)


@pytest.mark.parametrize("transform", [normalise, lambda *given: two_views(*given, seed=0)])
def test_nothing_can_be_normalised_twice(pixels, transform):
    seen = normalise(pixels, MEAN, STD)
    with pytest.raises(TypeError, match="expected uint8"):
        transform(seen, MEAN, STD)
    with pytest.raises(TypeError, match="expected uint8"):
        transform(pixels.long(), MEAN, STD)


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 4, 8, 8), (2, 2, 8, 8)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(TypeError, match="1 or 3"):
        normalise(torch.zeros(shape, dtype=torch.uint8), MEAN, STD)


def test_two_views_belong_to_the_seed(pixels):
    first, again = (two_views(pixels, MEAN, STD, seed=5) for _ in range(2))
    assert first.shape == (32, 3, 12, 12)
    assert first.dtype == torch.float32
    assert torch.equal(first, again)
    assert not torch.equal(first, two_views(pixels, MEAN, STD, seed=6))


def test_the_global_generator_is_left_alone(pixels):
    torch.manual_seed(11)
    expected = torch.rand(4)
    torch.manual_seed(11)
    two_views(pixels, MEAN, STD, seed=5)
    assert torch.equal(torch.rand(4), expected)


def test_the_global_generator_has_no_influence(pixels):
    torch.manual_seed(1)
    first = two_views(pixels, MEAN, STD, seed=5)
    torch.manual_seed(2)
    assert torch.equal(first, two_views(pixels, MEAN, STD, seed=5))


def test_every_image_of_every_view_draws_its_own(pixels):
    same = pixels[:1].expand(16, -1, -1, -1).contiguous()
    views = two_views(same, MEAN, STD, seed=5)
    for i in range(32):
        for j in range(i):
            assert not torch.equal(views[i], views[j])


def test_views_stay_within_zero_and_one_before_normalising(pixels):
    shares = unnormalised(two_views(pixels, MEAN, STD, seed=5))
    assert shares.min() > -1e-5
    assert shares.max() < 1 + 1e-5


def test_about_a_fifth_are_grey():
    generator = torch.Generator().manual_seed(3)
    pixels = torch.randint(0, 256, (500, 3, 8, 8), generator=generator, dtype=torch.uint8)
    shares = unnormalised(two_views(pixels, MEAN, STD, seed=1))
    is_grey = (shares.amax(dim=1) - shares.amin(dim=1)).amax(dim=(1, 2)) < 1e-4
    deviation = (0.2 * 0.8 / 1000) ** 0.5
    assert abs(is_grey.float().mean().item() - 0.2) < 4 * deviation


def test_half_are_flipped_and_crops_keep_at_least_a_fifth():
    """A ramp from left to right tells by its slope which way an image lies and how much of it was kept."""
    ramp = torch.linspace(0, 255, 32).round().to(torch.uint8).view(1, 1, 1, 32).expand(400, 1, 32, 32).contiguous()
    shares = unnormalised(two_views(ramp, MEAN, STD, seed=1)).mean(dim=1)
    slope = shares[:, 16, 31] - shares[:, 16, 0]
    deviation = (0.25 / 800) ** 0.5
    assert abs((slope < 0).float().mean().item() - 0.5) < 4 * deviation
    # the narrowest crop is √(.2 · ¾) = .387 of the width; contrast .6, saturation and brightness .6 shrink it further
    assert slope.abs().min() > 0.387 * 0.6 * 0.6 * 0.9


def test_one_channel_gives_three(pixels):
    assert two_views(pixels[:, :1], MEAN, STD, seed=0).shape == (32, 3, 12, 12)


def test_importing_needs_neither_torch_nor_kornia():
    code = "import sys, equipoise.data.augment; print(sorted({'torch', 'kornia'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("transform", [normalise, lambda *given: two_views(*given, seed=0)])
@pytest.mark.parametrize("channels", [1, 3])
def test_one_constant_serves_all_channels(pixels, transform, channels):
    """A one-channel set with one mean and one deviation broke in mid-training."""
    some = pixels[:, :channels]
    assert torch.equal(transform(some, (0.4,), (0.2,)), transform(some, (0.4,) * 3, (0.2,) * 3))
