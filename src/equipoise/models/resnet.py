"""Residual networks for small images: 3×3 stem, no max-pooling, average pooling at the end.

    depth 8: 3 stages × 1 block     depth 10: 4 × 1     depth 18: 4 × 2     channels w, 2w, 4w, (8w)

Convolutions are initialised Kaiming-normal (fan out). An optional linear projector sets D independently of the last
stage's width. Source: He et al., "Deep Residual Learning", 2016.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equipoise.config.choices import Norm
from equipoise.models.classifier import Classifier, normaliser
from equipoise.models.settings import ResnetOptions


class StridedProjection(nn.Conv2d):
    """A 1×1 convolution of every `stride`-th pixel.

    The pixels are selected before the convolution: torch 2.13 with AVX2 writes out of bounds in the backward pass of a
    strided 1×1 convolution of fewer than eight channels in channels-last order.
    """

    def __init__(self, c_in: int, c_out: int, stride: int) -> None:
        super().__init__(c_in, c_out, 1, bias=False)
        self.every = stride

    def forward(self, x: Tensor) -> Tensor:
        picked = x if self.every == 1 else x[:, :, :: self.every, :: self.every]
        return super().forward(picked.contiguous(memory_format=torch.channels_last))


def with_gradient_alike(y: Tensor) -> Tensor:
    """The same tensor; if it is in channels-last order, its gradient is put into that order when it comes.

    Pooling and the strided shortcut send gradients back in the other order, in which that of a ReLU takes ten times as
    long. The numbers are the same.
    """
    is_one = y.requires_grad and not torch._C._functorch.is_batchedtensor(y)
    if is_one and y.is_contiguous(memory_format=torch.channels_last):
        y.register_hook(_channels_last)  # type: ignore[no-untyped-call]
    return y


def _channels_last(gradient: Tensor) -> Tensor:
    return gradient.contiguous(memory_format=torch.channels_last)


class ResidualBlock(nn.Module):
    """y = relu(conv(relu(conv(x))) + shortcut(x)), with normalisation after each convolution."""

    def __init__(self, c_in: int, c_out: int, stride: int, norm: Norm) -> None:
        super().__init__()
        self.conv1, self.norm1 = _conv(c_in, c_out, stride), normaliser(norm, c_out)
        self.conv2, self.norm2 = _conv(c_out, c_out, 1), normaliser(norm, c_out)
        keeps_shape = stride == 1 and c_in == c_out
        project = StridedProjection(c_in, c_out, stride)
        self.shortcut = nn.Identity() if keeps_shape else nn.Sequential(project, normaliser(norm, c_out))

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm1(self.conv1(x)))
        return with_gradient_alike(F.relu(self.norm2(self.conv2(y)) + self.shortcut(x)))


def resnet8(options: ResnetOptions, shape: tuple[int, int, int], n_classes: int) -> Classifier:
    return _resnet((1, 1, 1), options, shape, n_classes)


def resnet10(options: ResnetOptions, shape: tuple[int, int, int], n_classes: int) -> Classifier:
    return _resnet((1, 1, 1, 1), options, shape, n_classes)


def resnet18(options: ResnetOptions, shape: tuple[int, int, int], n_classes: int) -> Classifier:
    return _resnet((2, 2, 2, 2), options, shape, n_classes)


def _resnet(blocks: tuple[int, ...], options: ResnetOptions, shape: tuple[int, int, int], n_classes: int) -> Classifier:
    channels = options.width
    layers: list[nn.Module] = [
        _conv(shape[0], channels, options.stem_stride),
        normaliser(options.norm, channels),
        nn.ReLU(),
    ]
    for stage, n_blocks in enumerate(blocks):
        c_out = options.width * 2**stage
        for block in range(n_blocks):
            layers.append(ResidualBlock(channels, c_out, 2 if stage > 0 and block == 0 else 1, options.norm))
            channels = c_out
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    if options.projector is not None:
        layers.append(nn.Linear(channels, options.projector))
    encoder = nn.Sequential(*layers)
    for module in encoder.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return Classifier(encoder, options.projector or channels, n_classes)


def _conv(c_in: int, c_out: int, stride: int) -> nn.Conv2d:
    return nn.Conv2d(c_in, c_out, 3, stride, padding=1, bias=False)
