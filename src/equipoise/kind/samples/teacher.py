"""The server's first broadcast: a teacher's features of the public pool, sent beside the model before the first step.

teacher = the common start, trained on the pool by the same loop as a client        z = f/‖f‖ of the pool's samples
"""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional as F

from equipoise.balance.none import none
from equipoise.client.recipe import Recipe
from equipoise.client.samples import SampleFeed, SampleWork
from equipoise.client.train import train
from equipoise.core.arithmetic import prepare
from equipoise.core.clock import Clock
from equipoise.core.errors import ClientError
from equipoise.core.streams import stream
from equipoise.core.values import ClientFailure, State, Task
from equipoise.data.splits import Splits
from equipoise.kind.samples.site import SampleSite
from equipoise.models.outputs import InputReader, outputs_of


def first_broadcast(site: SampleSite, splits: Splits, start: State) -> State:
    """Empty for a method without a teacher."""
    teacher, config, pool = site.method.teacher, site.config, splits.public
    if teacher is None:
        return {}
    network = site.network()
    work = SampleWork(config, Clock(1, teacher.epochs), pool, site.inputs)
    task = Task(0, site.n_clients, range(teacher.epochs), start)
    feed = SampleFeed(work, task, np.arange(len(pool)), site.count(pool.labels), {})
    recipe = Recipe(config, network, teacher.objective, none(), work, lambda _: feed)
    prepare(config.engine)
    (taught,) = train(recipe, [task])
    if isinstance(taught, ClientFailure):
        raise ClientError(f"the server's teacher failed: {taught.error}")
    site.device.load(network, taught.model)
    drawn = stream(config.seed, "public-features").permutation(len(pool))[: teacher.features]
    sent = pool.take(drawn)
    reader = InputReader(site.inputs, config.evaluate.batch, site.device)
    features = F.normalize(outputs_of(network, sent.inputs, reader).features, dim=1).clone()
    return {f"{teacher.name}.features": features, f"{teacher.name}.labels": torch.from_numpy(sent.labels)}
