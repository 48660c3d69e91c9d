"""A small convolutional network: two 3×3 convolutions with pooling, then one hidden layer.

    conv w → pool → ReLU → conv 2w → pool → ReLU → linear D → ReLU → head

ReLU of the largest is the largest ReLU, with the same gradients to the last bit, and a quarter of the numbers.

On 32×32 images the default has 0.55 M parameters: the network that federated simulators time themselves with.
"""

from __future__ import annotations

from pydantic import Field
from torch import nn

from equipoise.config.blocks import ModelOptions
from equipoise.core.registry import MODELS
from equipoise.models.classifier import Classifier, Norm, normaliser


class CnnOptions(ModelOptions):
    name: str = "cnn"
    width: int = Field(32, ge=1, description="channels of the first convolution; the second has twice as many")
    features: int = Field(128, ge=1, description="size D of the feature vector")
    norm: Norm = Field("none", description="normalisation after each convolution")


@MODELS.register("cnn", options=CnnOptions)
def cnn(options: CnnOptions, shape: tuple[int, int, int], n_classes: int) -> Classifier:
    channels, height, width = shape
    first, second = options.width, 2 * options.width
    encoder = nn.Sequential(
        *_block(channels, first, options.norm),
        *_block(first, second, options.norm),
        nn.Flatten(),
        nn.Linear(second * (height // 4) * (width // 4), options.features),
        nn.ReLU(),
    )
    return Classifier(encoder, options.features, n_classes)


def _block(c_in: int, c_out: int, norm: Norm) -> list[nn.Module]:
    return [nn.Conv2d(c_in, c_out, 3, padding=1), normaliser(norm, c_out), nn.MaxPool2d(2), nn.ReLU()]
