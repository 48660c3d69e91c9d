"""A backbone that the user brings, with frozen weights, under a head that is solved or trained.

    features = layer(network(resize(x))) ∈ R^D, maps averaged over height and width        logits = head(features)

The network comes from a function of the user's, its weights from a safetensors file. Its tensors are constants of every
process: they are not in the state, so they are neither trained nor merged nor sent, and every worker makes them anew.
All networks of a process share them.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from equipoise.core.errors import ConfigError, DataError, EquipoiseError, PluginError
from equipoise.core.loading import Plugin, loaded_module
from equipoise.core.origin import failure
from equipoise.core.streams import stream_seed
from equipoise.models.backbone_options import BackboneOptions
from equipoise.models.classifier import Classifier
from equipoise.models.frozen import Frozen, freeze

COUNTER = "num_batches_tracked"
"""Of BatchNorm: unread in evaluation mode, and missing in old files."""
FIRST = 3
"""Tensors that a message names."""


def backbone(options: BackboneOptions, shape: tuple[int, int, int], n_classes: int) -> Classifier:
    """A linear head on the features."""
    (plugin,) = options.code()
    options.require_same()
    with torch.device("cpu"):  # its tensors are kept, also where only the size of a network is asked for
        shared = _loaded(options.model_dump_json(), str(plugin.sha256))
        encoder = Backbone(_sharing(shared), options.layer, options.resize)
        n_features = _width(encoder, shape, plugin)
    return Classifier(encoder, n_features, n_classes)


class Backbone(Frozen):
    def __init__(self, network: nn.Module, layer: str | None, resize: int | None) -> None:
        super().__init__()
        self.network, self.layer, self.resize = network, layer, resize
        self.train(False)

    def forward(self, images: Tensor) -> Tensor:
        if self.resize is not None:
            images = F.interpolate(images, (self.resize, self.resize), mode="bilinear", align_corners=False)
        found = self._output(images)
        return found.mean((2, 3)) if isinstance(found, Tensor) and found.ndim == 4 else found

    def _output(self, images: Tensor) -> Any:
        """What the layer gives, otherwise what the network returns."""
        if self.layer is None:
            return self.network(images)
        seen: list[Any] = []
        hook = self.network.get_submodule(self.layer).register_forward_hook(lambda *given: seen.append(given[2]))
        try:
            self.network(images)
        finally:
            hook.remove()
        return seen[-1] if seen else None


@lru_cache(maxsize=2)
def _loaded(settings: str, code: str) -> nn.Module:
    """The network of these settings and that code, with its weights as constants."""
    options = BackboneOptions.model_validate_json(settings)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(stream_seed(0, "backbone"))
        network = _made(options)
    _fill(network, _weights(options), options)
    return freeze(network).to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def _sharing(network: nn.Module) -> nn.Module:
    """A copy with the same tensors: one network can go to a device while another stays."""
    return deepcopy(network, {id(tensor): tensor for tensor in network.buffers()})


def _made(options: BackboneOptions) -> nn.Module:
    """What the user's function returns."""
    (plugin,) = options.code()
    function, where = options.source[1], f"model.factory={options.factory}"
    make = getattr(loaded_module(plugin), function, None)
    if not callable(make):
        said = "is not there" if make is None else f"is no function, but {type(make).__name__}"
        raise PluginError(f"'{function}' of {plugin} {said}", where=where, fix="name a function of that module")
    try:
        network = make(**options.arguments)
    except Exception as error:
        raise failure(f"the network of {where}", error) from error
    if not isinstance(network, nn.Module):
        said = f"'{function}' of {plugin} returns no torch.nn.Module, but {type(network).__name__}"
        raise PluginError(said, where=where, fix="return the network itself; its weights come from model.weights")
    if options.layer is not None and options.layer not in dict(network.named_modules()):
        known = ", ".join(name for name, _ in network.named_modules() if name.count(".") == 0 and name)
        raise ConfigError(f"the network has no module '{options.layer}'", where="model.layer", fix=f"one of {known}, …")
    return network


def _weights(options: BackboneOptions) -> Mapping[str, Tensor]:
    path = options.weights_path
    try:
        state = load_file(path)
    except (OSError, SafetensorError) as error:
        what = f"{path.name} is not a whole safetensors file ({error})"
        raise DataError(what, where=str(path), fix="write it again with safetensors.torch.save_file") from error
    bad = [name for name, tensor in state.items() if tensor.is_floating_point() and not tensor.isfinite().all()]
    if bad:
        what = f"{len(bad)} of {len(state)} tensors of {path.name} hold numbers that are not finite: {_some(bad)}"
        raise DataError(what, where=str(path), fix="save the state of a network whose training did not break down")
    return state


def _fill(network: nn.Module, state: Mapping[str, Tensor], options: BackboneOptions) -> None:
    """Load all weights, by name."""
    own = network.state_dict()
    missing = [name for name in own if name not in state and not name.endswith(COUNTER)]
    extra = [name for name in state if name not in own]
    wrong = [
        f"{name} is {tuple(state[name].shape)} in the file and {tuple(own[name].shape)} in the network"
        for name in own
        if name in state and state[name].shape != own[name].shape
    ]
    problems = [
        *([f"{len(missing)} tensors of the network are not in the file: {_some(missing)}"] if missing else []),
        *([f"{len(extra)} tensors of the file are not in the network: {_some(extra)}"] if extra else []),
        *([f"{len(wrong)} shapes differ: {_some(wrong)}"] if wrong else []),
    ]
    if problems:
        path, factory = options.weights_path, options.factory
        what = f"{path.name} does not fit the network of {factory}: {'; '.join(problems)}"
        fix = "give the function the arguments that the network was saved with: model.arguments.NAME=VALUE"
        raise DataError(what, where=str(path), fix=fix)
    network.load_state_dict(dict(state), strict=False)


def _some(names: list[str]) -> str:
    names = sorted(names)
    return ", ".join(names[:FIRST]) + (", …" if len(names) > FIRST else "")


def _width(encoder: Backbone, shape: tuple[int, int, int], plugin: Plugin) -> int:
    """D, from two blank images."""
    try:
        with torch.inference_mode():
            found = encoder(torch.zeros(2, *shape))
    except EquipoiseError:
        raise
    except Exception as error:
        what = f"the network of {plugin} cannot read images of shape {shape}: {type(error).__name__}: {error}"
        fix = "model.resize=SIZE, or a function whose network takes [B, 3, height, width]"
        raise PluginError(what, where="model.factory", fix=fix) from error
    if not isinstance(found, Tensor) or found.ndim != 2 or len(found) != 2 or not found.is_floating_point():
        is_tensor = isinstance(found, Tensor)
        got = f"{found.dtype} of shape {tuple(found.shape)}" if is_tensor else type(found).__name__
        what = f"the network of {plugin} gives {got} for two images, expected numbers of shape (2, features)"
        fix = "name a module that gives features with model.layer, or let the function return a network that does"
        raise PluginError(what, where="model.factory", fix=fix)
    return int(found.shape[1])
