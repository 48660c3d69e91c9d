"""What the training loop costs: one ResNet-8 client in Equipoise against a bare PyTorch loop on the same tensors.

    python scripts/bench_overhead.py [--repeats 7]

Both train the same number of epochs on the same batches in the same order from the same start, one thread each;
repeats are interleaved. The two final losses are printed beside the ratio: they must be equal.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
import torch
from torch.nn import functional as F

from equipoise.client.batches import batches
from equipoise.config.schema import check
from equipoise.core.values import Images, Task
from equipoise.data.augment import normalise
from equipoise.engine.engine import make_work
from equipoise.engine.image_site import ImageSite
from equipoise.models.build import build_model, state_of

CONFIG = {
    "model": "resnet8",
    "client": {"epochs": 2, "batch": 32, "lr": 0.05},
    "rounds": 1,
    "partition": {"clients": 1},
}
MEAN = STD = (0.5, 0.5, 0.5)
N_IMAGES, N_CLASSES = 640, 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    draw = np.random.default_rng(0)
    pixels = draw.integers(0, 256, (N_IMAGES, 3, 32, 32), dtype=np.uint8)
    labels = draw.integers(0, N_CLASSES, N_IMAGES)
    config = check(CONFIG)
    site = ImageSite(config, Images(pixels, labels), [np.arange(N_IMAGES)], N_CLASSES, MEAN, STD)
    work = make_work(site)
    model = build_model(config.model, site.shape, N_CLASSES, config.seed)
    start = state_of(model)
    images, targets = normalise(torch.from_numpy(pixels), MEAN, STD), torch.from_numpy(labels)

    def ours() -> float:
        (update,) = work([Task(0, 0, range(config.client.epochs), start)])
        return update.metrics["loss/base"]  # type: ignore[union-attr]

    def bare() -> float:
        model.load_state_dict(dict(start))
        model.train()
        optimiser = torch.optim.SGD(model.parameters(), lr=config.client.lr, momentum=config.client.momentum)
        losses = []
        for epoch in range(config.client.epochs):
            for index in batches(N_IMAGES, config.client.batch, config.seed, epoch, 0):
                optimiser.zero_grad()
                loss = F.cross_entropy(model(images[index]).logits, targets[index])
                loss.backward()
                optimiser.step()
                losses.append(loss.item())
        return statistics.fmean(losses)

    ratios, times, last = [], {"ours": [], "bare": []}, {}
    for _ in range(repeats + 1):
        for name, loop in (("ours", ours), ("bare", bare)):
            began = time.perf_counter()
            last[name] = loop()
            times[name].append(time.perf_counter() - began)
        ratios.append(times["ours"][-1] / times["bare"][-1])
    ratios = ratios[1:]  # the first pair warms up
    spread = (min(ratios), max(ratios))
    print(f"ResNet-8, {N_IMAGES} images, {config.client.epochs} epochs, batch {config.client.batch}, one thread")
    for name, values in times.items():
        print(f"  {name}: median {statistics.median(values[1:]):.3f} s, mean training loss {last[name]:.6f}")
    print(
        f"  ratio ours / bare: {statistics.median(ratios):.3f} (from {spread[0]:.3f} to {spread[1]:.3f}); goal ≤ 1.05"
    )


if __name__ == "__main__":
    main()
