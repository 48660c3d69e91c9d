"""What the server sends beside the model before the first step: features of its public pool, seen by its teacher.

teacher = the common start, trained on the pool by the same loop as a client        z = f/‖f‖ of the pool's images
"""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional as F

from equipoise.balance.none import none
from equipoise.client.images import ImageFeed, ImageWork
from equipoise.client.train import Recipe, train
from equipoise.core.clock import Clock
from equipoise.core.errors import ClientError
from equipoise.core.streams import stream
from equipoise.core.values import ClientFailure, State, Task
from equipoise.engine.image_site import ImageSite
from equipoise.models.look import look
from equipoise.run.build import Federation


def first_broadcast(federation: Federation) -> State:
    """Nothing for a method without a teacher."""
    teacher, config = federation.method.teacher, federation.config
    if teacher is None:
        return {}
    scorer = federation.scorer
    pool, site = scorer.splits.public, federation.site
    assert isinstance(site, ImageSite), "only images have a public pool"
    work = ImageWork(config, Clock(1, teacher.epochs), pool, site.mean, site.std)
    task = Task(0, federation.n_clients, range(teacher.epochs), federation.start)
    feed = ImageFeed(work, task, np.arange(len(pool)), site.count(pool.labels))
    recipe = Recipe(config, scorer.model, teacher.objective, none(), work, lambda _: feed)
    torch.set_num_threads(config.engine.threads)
    (taught,) = train(recipe, [task])
    if isinstance(taught, ClientFailure):
        raise ClientError(f"the server's teacher failed: {taught.error}")
    scorer.model.load_state_dict(dict(taught.model))
    drawn = stream(config.seed, "public-features").permutation(len(pool))[: teacher.features]
    sent = pool.take(drawn)
    features = F.normalize(look(scorer.model, sent.pixels, scorer.lens).features, dim=1).clone()
    return {f"{teacher.name}.features": features, f"{teacher.name}.labels": torch.from_numpy(sent.labels)}
