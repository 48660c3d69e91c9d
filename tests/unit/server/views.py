"""Server views made of plain tensors: a state says what a model with it would say.

    asked.features, asked.logits          of the samples that are to be classified
    noise.features                        of samples without content
    own.features, own.logits              of everybody's training samples, in one list
    bn.running_mean                       is added to every logit

`Training` says who owns which of the training samples; so a client's samples are the same for every model. Answers are
made by the summaries that clients use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from equipoise.client.own import COMMON, OwnSamples
from equipoise.core.registry import SUMMARIES
from equipoise.core.values import ClientState, ClientUpdate, Samples, State
from equipoise.models.classifier import ModelOutput
from equipoise.server.predict import Merged, Predict, ServerView, ordered, question_of

RUNNING_MEAN = "bn.running_mean"


@dataclass(frozen=True)
class Training:
    """`labels` are those of all training samples, `owners` the rows of each client, `common` what nobody trains."""

    labels: Sequence[int] = ()
    owners: Mapping[int, Sequence[int]] = field(default_factory=dict)
    common: State = field(default_factory=dict)

    def at(self, state: State, where: str) -> ModelOutput:
        known: State = self.common if state is COMMON else state
        features, logits = known.get(f"{where}.features"), known.get(f"{where}.logits")
        if features is None:
            assert logits is not None, f"this state was not to be asked for {where}"
            features = logits[:, :0]
        return ModelOutput(features, features[:, :0] if logits is None else logits + known.get(RUNNING_MEAN, 0.0))


NOBODY = Training()


def client(number: int, counts: Sequence[int], report: State | None = None, **parts: object) -> ClientUpdate:
    """An update with that many images of each class; `asked_logits=[[…]]` is the tensor asked.logits."""
    state = {name.replace("_", ".", 1): torch.as_tensor(value) for name, value in parts.items()}
    return ClientUpdate(number, sum(counts), state, ClientState(state, report=report or {}), {}, list(counts))


def own_samples(
    outputs: Sequence[ModelOutput], labels: Sequence[int], n_classes: int, common: Tensor | None = None
) -> OwnSamples:
    """A client's samples with those labels, of which models and the common encoder have said that already."""
    samples = Samples(np.zeros((len(labels), 0)), np.array(labels, dtype=np.int64))
    counts = np.bincount(samples.labels, minlength=n_classes)
    own = OwnSamples(None, None, [], samples, samples, counts, None)  # type: ignore[arg-type]
    own.__dict__["outputs"] = list(outputs)  # where the cached property would put them
    if common is not None:
        own.__dict__["common_features"] = common
    return own


def answers_to(predict: Predict, merged: Merged, training: Training) -> dict[int, State]:
    """What the clients say to the question that a way to predict asks; nothing where it asks none."""
    question = question_of(predict)
    if question is None:
        return {}
    models = {"all": [one.model for one in ordered(merged)], "merged": [merged.model], "common": [COMMON]}
    summary, found = SUMMARIES.find(question.summary).make, {}
    for one in merged.clients:
        rows = list(training.owners[one.client])
        seen = [training.at(model, "own") for model in models.get(question.through, [one.model])]
        own = [ModelOutput(output.features[rows], output.logits[rows]) for output in seen]
        common = training.at(COMMON, "own").features[rows] if training.common else None
        found[one.client] = summary(own_samples(own, [training.labels[row] for row in rows], len(one.counts), common))
    return found


def view(training: Training = NOBODY, answers: Mapping[int, State] | None = None) -> ServerView:
    return ServerView(
        outputs=lambda state: training.at(state, "asked"),
        noise=lambda state: training.at(state, "noise"),
        answers=answers or {},
    )


def answered(predict: Predict, merged: Merged, training: Training = NOBODY) -> Tensor:
    """Probabilities, after the clients were asked what this way to predict asks."""
    return predict(view(training, answers_to(predict, merged, training)), merged)


def flat(answers: Tensor) -> list[float]:
    return answers.flatten().tolist()
