"""What a machine lets a driver do with it: a YAML file of its owner.

methods: [fedavg, fafi]        plugins: [my_plugin, extra.py]        most_epochs: 50        tells_counts: false
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError

from equipoise.core.errors import ConfigError, Problem
from equipoise.core.options import Options


class Policy(Options):
    """The owner's word is final: a run that wants more is refused, before any of its code is loaded."""

    methods: list[str] | None = Field(None, description="methods that may run here; null: all")
    models: list[str] | None = Field(None, description="models that may be trained here; null: all")
    plugins: list[str] = Field([], description="third-party code that may run here: modules, or files of this machine")
    most_epochs: int | None = Field(None, ge=1, description="most epochs of a run on this machine")
    most_megabytes: float = Field(4096, gt=0, description="most that one answer may hold")
    least_samples: int = Field(1, ge=1, description="clients with fewer samples take no part")
    tells_counts: bool = Field(True, description="whether drivers may know how many samples of each class are here")

    def require(self, config: Mapping[str, Any]) -> None:
        """Refuse a run's configuration that the owner does not allow. It is as it was received: unchecked."""
        problems = []
        for key, allowed in (("method", self.methods), ("model", self.models)):
            name = _name(config.get(key))
            if allowed is not None and name not in allowed:
                problems.append(
                    Problem(key, f"'{name}' is not allowed here; allowed: {', '.join(allowed) or 'nothing'}")
                )
        for plugin in config.get("plugins") or ():
            name = _name(plugin)
            if name not in self._plugins():
                problems.append(Problem("plugins", f"'{name}' is not among this machine's plugins"))
        if _files(config.get("model")):
            problems.append(Problem("model", "names files of the driver's machine; put the network into a plugin"))
        epochs = _epochs(config)
        if self.most_epochs is not None and epochs > self.most_epochs:
            problems.append(Problem("client.epochs", f"{epochs} epochs in all; at most {self.most_epochs} here"))
        if problems:
            raise ConfigError(problems, where="this machine's policy", fix="ask its owner")

    def with_own_code(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The configuration with this machine's files in place of the driver's; hashes are compared on loading."""
        own = self._plugins()
        plugins = [
            {**plugin, "path": str(own[plugin["name"]]), "source": None} if own[plugin["name"]] else plugin
            for plugin in config.get("plugins") or ()
        ]
        return {**config, "plugins": plugins}

    def _plugins(self) -> dict[str, Path | None]:
        """Name → its file here; None for an installed module."""
        files = {Path(each).stem: Path(each).expanduser().resolve() for each in self.plugins if each.endswith(".py")}
        return {each: None for each in self.plugins if not each.endswith(".py")} | files


def read_policy(path: Path | None) -> Policy:
    if path is None:
        return Policy()
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        return Policy.model_validate(found)
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", where="--policy", fix="check the path") from error
    except ValidationError as error:
        problems = [Problem(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]
        raise ConfigError(problems, where=str(path), fix="docs/howto/three-machines.md lists the keys") from error


def _name(block: Any) -> str:
    return str(block.get("name", "")) if isinstance(block, Mapping) else str(block)


def _files(model: Any) -> bool:
    return isinstance(model, Mapping) and any(model.get(key) for key in ("factory", "weights"))


def _epochs(config: Mapping[str, Any]) -> int:
    """Epochs of the whole run; a configuration without numbers there is refused later, with its key."""
    client, rounds = config.get("client"), config.get("rounds")
    epochs = client.get("epochs") if isinstance(client, Mapping) else 1
    each = epochs if isinstance(epochs, int) else 1
    return each if config.get("communication") == "one-shot" else each * (rounds if isinstance(rounds, int) else 1)
