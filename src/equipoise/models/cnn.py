"""A small convolutional network: two 3×3 convolutions with pooling, then one hidden layer.

    conv w → pool → ReLU → conv 2w → pool → ReLU → linear D → ReLU → head

ReLU of the largest is the largest ReLU, with the same gradients to the last bit, and a quarter of the numbers.

On 32×32 images the default has 0.55 M parameters: the network that federated simulators time themselves with.
"""

from __future__ import annotations

from torch import nn

from equipoise.config.choices import Norm
from equipoise.models.classifier import Classifier, normaliser
from equipoise.models.settings import CnnOptions


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
