from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache

import kornia.augmentation as K
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from equipoise.data import augment
from equipoise.data.augment import normalise, two_views
from equipoise.data.views import HUE, drawn
from tests.sim import NoCompiler, environment

MEAN, STD = (0.5, 0.4, 0.3), (0.2, 0.25, 0.5)
CONSTANTS = {1: ((0.4,), (0.2,)), 3: (MEAN, STD)}


@pytest.fixture
def pixels() -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randint(0, 256, (16, 3, 12, 12), generator=generator, dtype=torch.uint8)


def noise(*shape: int, levels: int = 256) -> torch.Tensor:
    """Few levels give many pixels with equal channels, and many of the darkest and the brightest."""
    generator = torch.Generator().manual_seed(sum(shape))
    drawn = torch.randint(0, levels, shape, generator=generator)
    return (drawn * 255 // (levels - 1)).to(torch.uint8)


@lru_cache
def kornia_pipeline(height: int, width: int) -> torch.nn.Sequential:
    return torch.nn.Sequential(
        K.RandomResizedCrop((height, width), scale=(0.2, 1.0), cropping_mode="resample"),
        K.RandomHorizontalFlip(p=0.5),
        K.ColorJitter(0.4, 0.4, 0.4, 0.1, p=0.8),
        K.RandomGrayscale(p=0.2),
    )


def views_by_kornia(pixels: torch.Tensor, mean: tuple[float, ...], std: tuple[float, ...], seed: int) -> torch.Tensor:
    shares = pixels.expand(-1, 3, -1, -1) / 255
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        views = kornia_pipeline(*pixels.shape[2:])(torch.cat([shares, shares]))
    centre, spread = (torch.tensor(values).view(1, -1, 1, 1) for values in (mean, std))
    return (views - centre) / spread


def views_as_on_a_device(
    pixels: torch.Tensor, mean: tuple[float, ...], std: tuple[float, ...], seed: int
) -> torch.Tensor:
    draws = drawn(seed, 2 * len(pixels), *pixels.shape[2:])
    constants = augment._constants("cpu", augment.WEIGHTS, mean, std)
    return augment._together(augment._shares(pixels), draws, constants)


def assert_same_bits(one: torch.Tensor, other: torch.Tensor) -> None:
    assert one.is_contiguous()
    assert torch.equal(one.view(torch.int32), other.view(torch.int32))


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


@pytest.mark.parametrize("transform", [two_views, views_as_on_a_device])
@pytest.mark.parametrize("batch", [1, 2, 7, 32, 65])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("side", [8, 28, 32, 64])
def test_views_have_the_bits_of_kornia(transform, batch, channels, side):
    for seed in range(6 if side < 64 else 2):
        pixels = noise(batch, channels, side, side, levels=(256, 3)[seed % 2])
        mean, std = CONSTANTS[(1, 3)[seed % 2]]
        assert_same_bits(transform(pixels, mean, std, seed), views_by_kornia(pixels, mean, std, seed))


@settings(max_examples=150)
@given(
    batch=st.integers(1, 65),
    channels=st.sampled_from([1, 3]),
    size=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    levels=st.sampled_from([2, 5, 256]),
    constants=st.sampled_from([1, 3]),
    seed=st.integers(0, 2**63 - 1),
)
def test_any_views_have_the_bits_of_kornia(batch, channels, size, levels, constants, seed):
    """Narrow images need the crop that is taken when no candidate fits, and small ones have crops of one pixel."""
    pixels = noise(batch, channels, *size, levels=levels)
    expected = views_by_kornia(pixels, *CONSTANTS[constants], seed)
    assert_same_bits(two_views(pixels, *CONSTANTS[constants], seed), expected)
    assert_same_bits(views_as_on_a_device(pixels, *CONSTANTS[constants], seed), expected)


@pytest.mark.parametrize(("height", "width"), [(3, 3), (2, 2), (1, 6), (4, 40), (40, 4)])
def test_small_and_narrow_views_have_the_bits_of_kornia(height, width):
    for seed in range(20):
        pixels = noise(9, 3, height, width)
        assert_same_bits(two_views(pixels, MEAN, STD, seed), views_by_kornia(pixels, MEAN, STD, seed))


def test_groups_of_none_or_one_have_the_bits_of_kornia():
    """Of two views of one image, a step often changes none or one."""
    pixels = noise(1, 3, 8, 8)
    for seed in range(200):
        assert_same_bits(two_views(pixels, MEAN, STD, seed), views_by_kornia(pixels, MEAN, STD, seed))


@pytest.mark.parametrize("channels", [1, 3])
def test_white_images_have_the_bits_of_kornia(channels):
    """The weights of four neighbours add up to a little more than one now and then."""
    white = torch.full((32, channels, 28, 28), 255, dtype=torch.uint8)
    for seed in range(5):
        assert_same_bits(two_views(white, MEAN, STD, seed), views_by_kornia(white, MEAN, STD, seed))


def test_no_images_give_no_views():
    assert two_views(noise(0, 3, 8, 8), MEAN, STD, seed=1).shape == (0, 3, 8, 8)


def test_a_hue_that_no_view_turns_is_left_out():
    assert HUE not in drawn(1, 0, 8, 8).steps
    assert HUE in drawn(1, 2, 8, 8).steps


class Operations(TorchDispatchMode):
    """Fails at what makes the host wait for a device, and at numbers that some devices do not have."""

    WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "item", "is_nonzero", "equal", "_unique2")

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        assert name not in self.WAITS, name
        if name in ("index", "index_put", "index_put_"):
            assert all(index is None or index.dtype == torch.int64 for index in args[1]), "a mask counts its elements"
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            if not isinstance(tensor, torch.Tensor):
                continue  # torch asks which accelerator there is
            assert tensor.dtype in (torch.float32, torch.uint8), (name, tensor.dtype)
        return result


@pytest.mark.parametrize("channels", [1, 3])
def test_nothing_that_a_device_computes_waits_for_the_host(channels):
    stored, draws = noise(7, channels, 12, 12), drawn(1, 14, 12, 12)
    constants = augment._constants("cpu", augment.WEIGHTS, MEAN, STD)
    with Operations():
        augment._together(augment._shares(stored), draws, constants)
        normalise(stored, MEAN, STD)


ON_A_DEVICE = """
import torch
from equipoise.data.augment import normalise, two_views

def run(channels, seed):
    stored = torch.randint(0, 256, (5, channels, 12, 12), dtype=torch.uint8)
    there = stored.to("sim")
    for transform, copies in ((normalise, {0, 1}), (lambda *given: two_views(*given, seed), {1})):
        with torch.sim.counting() as counts, torch.sim.lacking(torch.float64):
            seen = transform(there, (0.5, 0.4, 0.3), (0.2, 0.25, 0.5))
        assert seen.device == there.device
        assert counts["waits"] == counts["draws"] == counts["to_host"] == 0, counts
        assert counts["to_device"] in copies, counts
        torch.testing.assert_close(seen.cpu(), transform(stored, (0.5, 0.4, 0.3), (0.2, 0.25, 0.5)))

for channels in (1, 3):
    for seed in range(5):
        run(channels, seed)
"""


def test_on_a_device_one_copy_brings_all_numbers_and_nothing_waits():
    try:
        known = environment()
    except NoCompiler as error:
        pytest.skip(str(error))
    command = [sys.executable, "-c", ON_A_DEVICE]
    done = subprocess.run(command, env=os.environ | known, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
