"""Generate histories with a known signal in the features and known changes of interest.

    P(next = i) = follow·[i follows the last item]/3 + (1 − follow)·softmax_i(a_i + κ·taste_ui), of items not met before
    taste_ui    = √signal·⟨p_u, z_i⟩ + √(1 − signal)·⟨h_u, y_i⟩,   z_i, y_i ~ N(0, I_16), p_u, h_u of length 1
    visual_i    = A·z_i[0:10] + 0.3·ε,   text_i = B·z_i[6:16] + 0.3·ε,   A, B ~ N(0, 1/10), ε ~ N(0, 1)
    a_i         = −½·log(1 + i),   κ = 4

z is shown by the features and y by nothing: `signal` is the share of taste that can be read off the features, at any
signal a user is equally choosy, and at 0 features have nothing to do with choices. Sixteen directions and about thirty
owners per item are too few for co-occurrence to find z well, so content helps beyond ids. Each item has three
followers, drawn at random, which only ids can learn; instead of one that was met before, the softmax chooses.

All users share a clock of 100 days. `drift` of the users get new p_u and h_u, at right angles to the old, at the moment
`drift_at` of the clock; `changes` holds the position of their first choice after it. Items nobody chose are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationInfo, field_validator

from equipoise.config.blocks import InteractionOptions
from equipoise.core.registry import DATASETS
from equipoise.core.streams import stream
from equipoise.core.values import Indices
from equipoise.data.interactions import Interactions
from equipoise.data.rows import interactions_of, rows_of

LATENT = 16
SHOWN = {"visual": slice(0, 10), "text": slice(6, 16)}
"""Which directions of z each modality shows; four are shown by both."""
NOISE, SHARPNESS, STEEPNESS, FOLLOWERS = 0.3, 4.0, 0.5, 3
CLOCK = 100 * 24 * 3600
Table = NDArray[np.float64]


class PlantedOptions(InteractionOptions):
    """What to generate. `generator_seed` is not the run's seed: all runs of a study see the same histories."""

    name: str = "planted"
    subset: Literal["all"] = Field("all", description="all users that are generated")
    users: int = Field(200, ge=2, description="users to generate")
    length: int = Field(60, ge=6, description="mean length of a history; from half to one and a half of it")
    items: int = Field(400, ge=12, description="items to choose from, at least twice the mean length")
    signal: float = Field(0.9, ge=0, le=1, description="share of taste that the features show")
    follow: float = Field(0.25, ge=0, lt=1, description="share of choices that follow from the last item alone")
    drift: float = Field(0.25, ge=0, le=1, description="share of users whose interest changes")
    drift_at: float = Field(0.6, gt=0, lt=1, description="when it changes, as a share of the clock")
    visual: Literal["planted"] | None = Field("planted", description="generated image features, or none")
    text: Literal["planted"] | None = Field("planted", description="generated text features, or none")
    visual_width: int = Field(32, ge=2, description="numbers per item that stand for its image")
    text_width: int = Field(24, ge=2, description="numbers per item that stand for its text")
    generator_seed: int = Field(0, ge=0, description="seed of items, users and choices")

    @field_validator("users")
    @classmethod
    def _number_of_a_subset(cls, value: int | None, info: ValidationInfo) -> int | None:
        return value  # the number of users to generate; there is no subset

    @field_validator("items")
    @classmethod
    def _enough_items(cls, value: int, info: ValidationInfo) -> int:
        length = info.data.get("length", 0)
        if value < 2 * length:
            raise ValueError(f"a history never repeats an item: length={length} needs at least {2 * length} items")
        return value


@dataclass(frozen=True)
class World:
    """The items: what features show of them, what nothing shows, how popular they are and what follows them."""

    shown: Table
    hidden: Table
    popularity: Table
    followers: Indices


@dataclass(frozen=True)
class Crowd:
    """The users: when they choose, what they like before and after a change, and at which position it comes."""

    times: list[Indices]
    likes_shown: Table
    likes_hidden: Table
    changes: Indices

    @property
    def lengths(self) -> Indices:
        return np.array([len(times) for times in self.times])


@DATASETS.register("planted", options=PlantedOptions)
def planted(options: PlantedOptions, folder: Path | None) -> Interactions:
    crowd = make_crowd(options)
    chosen = _choices(options, make_world(options), crowd)
    n = crowd.lengths
    users = np.repeat(np.arange(options.users), n)
    items = np.concatenate([row[:length] for row, length in zip(chosen, n, strict=True)])
    times = np.concatenate(crowd.times)
    interactions = interactions_of("planted", rows_of(users, items, times, times, "the generator"), options)
    return replace(interactions, changes=crowd.changes)


def planted_table(options: PlantedOptions, modality: str) -> NDArray[np.float32]:
    """[items, width] features of every item, chosen or not; row i is item i."""
    shows = SHOWN[modality]
    width = options.visual_width if modality == "visual" else options.text_width
    rng = stream(options.generator_seed, "planted-features", modality)
    latent = make_world(options).shown[:, shows]
    image = latent @ rng.standard_normal((latent.shape[1], width)) / np.sqrt(latent.shape[1])
    noisy: NDArray[np.float32] = (image + NOISE * rng.standard_normal(image.shape)).astype(np.float32)
    return noisy


def make_world(options: PlantedOptions) -> World:
    rng = stream(options.generator_seed, "planted-items")
    shown, hidden = rng.standard_normal((2, options.items, LATENT))
    followers = rng.random((options.items, options.items)).argsort(axis=1)[:, :FOLLOWERS]
    return World(shown, hidden, -STEEPNESS * np.log1p(np.arange(options.items)), followers)


def make_crowd(options: PlantedOptions) -> Crowd:
    rng = stream(options.generator_seed, "planted-users")
    lengths = rng.integers(options.length // 2, options.length + options.length // 2, options.users, endpoint=True)
    times = [np.sort(rng.integers(0, CLOCK, length)) for length in lengths]
    likes_shown, likes_hidden = _turning(rng, options.users), _turning(rng, options.users)
    before = np.array([np.searchsorted(moments, options.drift_at * CLOCK) for moments in times])
    drifts = rng.permutation(options.users) < round(options.drift * options.users)
    has_both = (before > 0) & (before < lengths)
    return Crowd(times, likes_shown, likes_hidden, np.where(drifts & has_both, before, -1))


def _turning(rng: np.random.Generator, count: int) -> Table:
    """[2, count, LATENT]: directions, and others at right angles to them."""
    old = _unit(rng.standard_normal((count, LATENT)))
    other = rng.standard_normal((count, LATENT))
    return np.stack([old, _unit(other - (other * old).sum(axis=1, keepdims=True) * old)])


def _unit(rows: Table) -> Table:
    scaled: Table = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


def _choices(options: PlantedOptions, world: World, crowd: Crowd) -> Indices:
    """[U, T] item of each choice; beyond a user's own length they mean nothing."""
    rng, everyone = stream(options.generator_seed, "planted-choices"), np.arange(options.users)
    weight, is_open = weights(options, world, crowd), np.ones((options.users, options.items))
    chosen = np.empty((options.users, int(crowd.lengths.max())), dtype=np.int64)
    for t in range(chosen.shape[1]):
        has_changed = ((crowd.changes >= 0) & (t >= crowd.changes)).astype(np.int64)
        race = weight[has_changed, everyone] * is_open / rng.standard_exponential(is_open.shape)
        pick = race.argmax(axis=1)
        if t > 0:
            next_one = world.followers[chosen[:, t - 1], rng.integers(0, FOLLOWERS, options.users)]
            follows = (rng.random(options.users) < options.follow) & (is_open[everyone, next_one] > 0)
            pick = np.where(follows, next_one, pick)
        chosen[:, t], is_open[everyone, pick] = pick, 0
    return chosen


def weights(options: PlantedOptions, world: World, crowd: Crowd) -> Table:
    """[2, U, V] e^(a + κ·taste) before and after the change: whoever is first in a race at these rates is drawn by
    softmax."""
    taste = np.sqrt(options.signal) * crowd.likes_shown @ world.shown.T
    taste += np.sqrt(1 - options.signal) * crowd.likes_hidden @ world.hidden.T
    weight: Table = np.exp(world.popularity + SHARPNESS * taste)
    return weight
