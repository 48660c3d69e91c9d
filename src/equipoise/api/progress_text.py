"""Progress messages of a run, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from equipoise.core.values import Event
    from equipoise.run.build import Federation
    from equipoise.run.state import Record


def described(federation: Federation) -> str:
    from equipoise.run.placed import described_device

    config, partition = federation.config, federation.partition
    return (
        f"{config.method.name} on {config.data.name} ({partition.skew['samples']:.0f} samples), "
        f"{partition.name} over {len(partition.indices)} clients ({partition.fingerprint[:12]}), "
        f"{config.model.name}, seed {config.seed}, engine {config.engine.name} on {described_device(config)}"
    )


def said(event: Event) -> str:
    """The text of an event; problems begin with "!", but the end of a run does not."""
    return event.message if event.kind == "stopped-early" else f"! {event.kind}: {event.message}"


def figures_of(record: Record, headline: str) -> str:
    """loss 0.512  accuracy 61.20 %, or the loss alone where the checkpoint was not scored."""
    losses = [row.value for row in record.rows if row.name == "loss/base" and row.client is not None]
    used = [row.value for row in record.rows if row.name == "lam/used"]
    shown = headline if headline.startswith("accuracy") else f"{headline}/validation"
    accuracy = [row.value for row in record.rows if row.name == shown and row.client is None]
    parts = [f"loss {sum(losses) / len(losses):.3f}"] if losses else []
    parts += [f"λ {sum(used) / len(used):.3g}"] if used else []
    parts += [f"{shown.partition('/')[0]} {100 * accuracy[0]:.2f} %"] if accuracy else []
    return "  ".join(parts)
