"""`model.py`: a model as one readable file of plain PyTorch, beside its weights and its card.

The network, the predictor and the normalisation are copied from our source, or from a plugin's.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import nn

from equipoise.core.errors import ConfigError
from equipoise.deploy.bundle import Bundle
from equipoise.deploy.modules import Import
from equipoise.deploy.parts import Parts
from equipoise.deploy.predictor import Makers, Predictor, assemble

HEADER = '''"""The model of run {run}: {predict} of {method} on {data}.

    from model import load

    model = load()                       # reads card.json and weights.safetensors beside this file
    probabilities = model(samples)       # samples: {dtype} [{shape}] as they are stored; probabilities: [N, {n}]

Normalisation is inside. The model is an nn.Module in evaluation mode: .to(device), torch.compile and training work as
always; call it under torch.no_grad() to predict. Needs {packages}.
"""

from __future__ import annotations

'''
LOAD = '''

def load(folder: str | Path = Path(__file__).parent) -> Predictor:
    """The model of this folder, ready to predict."""
    card = json.loads((Path(folder) / "card.json").read_text(encoding="utf-8"))
    options = SimpleNamespace(**card["model"]["options"])
    makers = Makers(
        network=lambda: {network}(options, {shape!r}, {n}),
        head={head},
        common={common},
        prepare={inputs}({facts}).prepare,
        predict={predict},
    )
    return {assemble}(card, load_file(Path(folder) / "weights.safetensors"), makers)
'''


def model_file(parts: Parts) -> str:
    """The text of model.py."""
    card, origins = parts.card, parts.origins
    inputs = type(origins.inputs)
    made = [origins.network, origins.predict, inputs, *([origins.common] if origins.common else [])]
    bundle = Bundle({thing.__module__.partition(".")[0] for thing in made})
    for alias, module in (("Path", "pathlib"), ("SimpleNamespace", "types"), ("load_file", "safetensors.torch")):
        bundle.need(alias, Import(module, alias))
    bundle.need("json", Import("json", None))
    for thing in (Predictor, Makers):
        bundle.add(thing)
    shape, n_classes = tuple(card["input"]["network_shape"]), len(card["classes"])
    common = f"{bundle.add(origins.common)}({shape!r}, {card['seed']})" if origins.common else None
    load = LOAD.format(
        network=bundle.add(origins.network),
        shape=shape,
        n=n_classes,
        head=f"lambda: {expression(origins.head, bundle)}" if origins.head is not None else None,
        common=f"lambda: {common}" if common else None,
        inputs=bundle.add(inputs, keep=("prepare",)),
        facts=", ".join(f"{key}={value!r}" for key, value in card["input"]["normalisation"].items()),
        predict=bundle.add(origins.predict),
        assemble=bundle.add(assemble),
    )
    return _header(parts, bundle) + bundle.text() + load


def _header(parts: Parts, bundle: Bundle) -> str:
    card = parts.card
    return HEADER.format(
        run=card["run"],
        predict=card["predict"],
        method=card["method"],
        data=card["data"]["name"],
        dtype=card["input"]["dtype"],
        shape=", ".join(map(str, card["input"]["shape"])),
        n=len(card["classes"]),
        packages=" and ".join(bundle.packages()),
    )


def expression(module: nn.Module, bundle: Bundle) -> str:
    """The expression that makes a module like this one: its class, with the attributes that its parameters name."""
    kind = type(module)
    name = bundle.add(kind) if bundle.is_ours(kind.__module__) else bundle.need(kind.__name__, _at(kind))
    if isinstance(module, nn.Sequential):
        return f"{name}({', '.join(expression(child, bundle) for child in module)})"
    given = []
    for parameter in list(inspect.signature(kind.__init__).parameters.values())[1:]:
        if hasattr(module, parameter.name):
            given.append(f"{parameter.name}={_value(getattr(module, parameter.name), parameter.default, bundle)}")
        elif parameter.default is parameter.empty:
            what = f"head '{kind.__name__}' does not keep its argument '{parameter.name}', so it cannot be made anew"
            raise ConfigError(what, where=kind.__module__, fix=f"set self.{parameter.name} in its __init__")
    return f"{name}({', '.join(given)})"


def _at(kind: type) -> Import:
    return Import("torch.nn" if kind.__module__.startswith("torch.nn.") else kind.__module__, kind.__name__)


def _value(value: Any, default: Any, bundle: Bundle) -> str:
    if isinstance(value, nn.Module):
        return expression(value, bundle)
    if isinstance(value, torch.Tensor):
        zeros = f"{bundle.need('torch', Import('torch', None))}.zeros({tuple(value.shape)!r})"
        return "True" if isinstance(default, bool) else zeros  # `bias=True` makes a tensor of that name
    return "False" if value is None and isinstance(default, bool) else repr(value)
