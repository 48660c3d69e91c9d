"""Five ResNet-8 clients with two views and four terms, against the usual research code: transforms image by image.

The other side applies a list of transforms to one PIL image at a time, twice per image, trains one client after
another, and uses the default memory layout. Each side draws its own views, so the two mean losses agree only as well as
two draws do.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import numpy as np
import torch
from PIL import Image, ImageEnhance
from torch import Tensor

from equipoise.bench.job import MEAN, STD, BenchmarkJob, make_job
from equipoise.bench.measure import BenchmarkResult, Goal, by_turns, compared
from equipoise.bench.ours import where
from equipoise.core.machine import cores
from equipoise.core.registry import ENGINES
from equipoise.core.values import ClientUpdate, Moment, Task
from equipoise.engine.engine import Engine
from equipoise.method.resolve import resolve
from equipoise.models.build import build_model, state_of
from equipoise.objective.compose import Batch, Net

CLIENTS, IMAGES = 5, 256
SECOND = range(1, 2)
"""The second epoch: at the first step of a run, and every 256 steps after it, each term is also measured by itself."""


def run(repeats: int) -> Iterator[BenchmarkResult]:
    settings = {
        "method": "fafi",
        "communication": "one-shot",
        "model": {"name": "resnet8"},
        "client": {"epochs": 2, "batch": 64, "lr": 0.02, "augment": "two-view"},
        "partition": {"clients": CLIENTS},
        "engine": {"name": "processes", "workers": cores()},
    }
    job = make_job(settings, (3, 32, 32), [IMAGES] * CLIENTS)
    model = build_model(job.config.model, job.site.shape, 10, job.config.seed, resolve(job.config).head)
    start = state_of(model)
    engine: Engine = ENGINES.find("processes").make(job.site)
    tasks = [Task(0, client, SECOND, start) for client in range(CLIENTS)]

    def ours() -> float:
        updates = [update for update in engine.map(tasks) if isinstance(update, ClientUpdate)]
        return statistics.fmean(update.metrics["loss/base"] for update in updates)

    mine, theirs = by_turns([ours, lambda: straightforward(job)], repeats)
    engine.close()
    note = where(job.site, tasks)
    what = f"{CLIENTS} clients × {IMAGES} images, ResNet-8, two views, four terms; against transforms image by image"
    yield compared("vision-round", what, mine, theirs, Goal("at least", 2.0), tolerance=0.1, note=note)


def straightforward(job: BenchmarkJob) -> float:
    """The mean loss of the steps, with one thread per core."""
    torch.set_num_threads(cores())
    method, options, losses = resolve(job.config), job.config.client, []
    draw = np.random.default_rng(0)
    for client in range(job.n_clients):
        model = build_model(job.config.model, job.site.shape, job.site.n_classes, job.config.seed, method.head)
        model = model.to(memory_format=torch.contiguous_format).train()  # type: ignore[call-overload]
        received, net = state_of(model), Net(model, dict(model.named_parameters()))
        optimiser = torch.optim.SGD(model.parameters(), options.lr, options.momentum)
        images = job.site.train.take(job.site.indices[client])
        moment = Moment(0.0, job.site.counts(client))
        for index in job.orders(client)[len(job.orders(client)) // 2 :]:
            pictures = [Image.fromarray(images.inputs[i].transpose(1, 2, 0)) for i in index]
            views = torch.stack([transformed(picture, draw) for _ in range(2) for picture in pictures])
            labels = torch.from_numpy(images.labels[index]).repeat(2)
            optimiser.zero_grad()
            found = method.objective(net, Batch(views, labels), received, moment)
            found.base.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            losses.append(found.base.item())
    torch.set_num_threads(1)
    return statistics.fmean(losses)


def transformed(picture: Image.Image, draw: np.random.Generator) -> Tensor:
    """RandomResizedCrop, flip, colour jitter with probability .8, grayscale with .2, to a normalised tensor."""
    size = picture.width
    side = size * np.sqrt(draw.uniform(0.2, 1.0))
    tall = np.exp(draw.uniform(np.log(3 / 4), np.log(4 / 3))) ** 0.5
    width, height = min(size, side * tall), min(size, side / tall)
    left, top = draw.uniform(0, size - width), draw.uniform(0, size - height)
    picture = picture.resize((size, size), Image.Resampling.BILINEAR, (left, top, left + width, top + height))
    if draw.random() < 0.5:
        picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if draw.random() < 0.8:
        for enhance in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
            picture = enhance(picture).enhance(draw.uniform(0.6, 1.4))
        hue, saturation, value = picture.convert("HSV").split()
        shift = int(draw.uniform(-0.1, 0.1) * 255)
        hue = hue.point([(level + shift) % 256 for level in range(256)])
        picture = Image.merge("HSV", (hue, saturation, value)).convert("RGB")
    if draw.random() < 0.2:
        picture = picture.convert("L").convert("RGB")
    pixels = torch.from_numpy(np.asarray(picture).transpose(2, 0, 1).copy()).float() / 255
    mean, std = (torch.tensor(values).view(3, 1, 1) for values in (MEAN, STD))
    return (pixels - mean) / std
