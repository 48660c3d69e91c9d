"""Which client owns which samples: the partition that a run would have, or the one that a stored run had."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.api.request import Settings, Source, requested
from equipoise.core.errors import ConfigError

if TYPE_CHECKING:
    import altair as alt
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from equipoise.config.loader import Request
    from equipoise.core.values import Indices
    from equipoise.partition.divide import Partition
    from equipoise.store.records import Run
    from equipoise.store.transact import Store

MOST_IDS = 40
"""At most this many client names are listed."""


@dataclass(frozen=True, eq=False)
class PartitionView:
    """A partition for display; it renders as HTML in a notebook."""

    name: str
    """The splitter."""
    fingerprint: str
    """SHA-256 of the assignment of samples to clients."""
    n_clients: int
    """Number of clients."""
    counts: NDArray[np.int64]
    """[K, C]: samples per client and class, for at most the first thousand clients."""
    classes: tuple[str, ...]
    """Names of the classes; for a stored run, their numbers."""
    skew: Mapping[str, float]
    """The realised skew: entropy, emd, overlap, size_min …"""
    unowned: float
    """The share of samples on no client."""
    alpha: float | None = None
    """The splitter's α, if it has one."""
    warnings: tuple[str, ...] = ()
    """Set if clients share samples by design."""
    ids: tuple[str, ...] = ()
    """The clients' names, if the split came from a file."""
    owners: Callable[[], Indices] | None = None
    """Gives the client of every sample of the whole training set; None for the partition of a stored run."""

    @property
    def overlap(self) -> float:
        """The share of samples on several clients."""
        return self.skew["overlap"]

    @property
    def is_sampled(self) -> bool:
        """Whether there are more clients than were counted."""
        return len(self.counts) < self.n_clients

    @property
    def counted(self) -> str:
        """The clients that `counts` covers, in words."""
        return f"the first {len(self.counts)} of {self.n_clients} clients"

    def table(self) -> pl.DataFrame:
        """Long: client, class, samples."""
        import polars as pl

        rows = [
            (client, name, int(n))
            for client, row in enumerate(self.counts)
            for name, n in zip(self.classes, row, strict=True)
        ]
        return pl.DataFrame(rows, schema={"client": pl.Int64, "class": pl.String, "samples": pl.Int64}, orient="row")

    def facts(self) -> dict[str, str]:
        """Checks and measurements, in words."""
        skew = self.skew
        sizes = " / ".join(f"{skew[f'size_{name}']:.0f}" for name in ("min", "mean", "max"))
        facts = {
            "fingerprint": self.fingerprint,
            "disjoint": "yes" if not self.overlap else f"NO: {self.overlap:.1%} of the samples on several clients",
            "covering": "yes" if not self.unowned else f"NO: {self.unowned:.1%} of the samples on no client",
            "images per client": f"{sizes} (min / mean / max)",
            "classes per client": f"{skew['classes']:.2f} of {len(self.classes)}",
            "entropy": f"{skew['entropy']:.3f} bits, {skew['entropy_normalised']:.1%} of an even mix",
            "EMD to the whole": f"{skew['emd']:.3f} (0 alike … 2 disjoint)",
        }
        if self.ids:
            facts["clients"] = ", ".join(f"{client} = {name}" for client, name in enumerate(self.ids[:MOST_IDS]))
        sampled = {"counted": f"{self.counted}; overlap and gaps are expected values"}
        return facts | (sampled if self.is_sampled else {})

    def chart(self) -> alt.VConcatChart:
        """The picture, as an Altair chart."""
        from equipoise.report.partition_chart import caption, chart

        line = caption(self.name, self.fingerprint, self.overlap, self.alpha)
        line += f" · {self.counted}" if self.is_sampled else ""
        return chart(
            self.counts, f"Who owns what: {self.n_clients} clients, {len(self.classes)} classes", self.classes, line
        )

    def save(self, path: str | Path) -> Path:
        """Write the picture (.html, .svg, .png, .pdf or .json), or the split itself (.csv, .tsv, .parquet or .npy)."""
        from equipoise.partition.split_rows import WRITTEN, write_rows
        from equipoise.report.files import save, writing

        path = Path(path)
        if path.suffix.lower() not in WRITTEN:
            save(self.chart(), path)
            return path
        if self.owners is None:
            what = "the store keeps who owns what, but not which samples of the whole set those were"
            raise ConfigError(what, where=str(path), fix="give the same settings to `equipoise partition`")
        owner = self.owners()
        with writing(path):
            write_rows(path, owner, self.ids)
        return path

    def to_json(self) -> dict[str, Any]:
        """The document of `equipoise partition --json`."""
        return {
            "name": self.name,
            "clients": self.n_clients,
            "samples": round(self.skew["samples"]),
            "fingerprint": self.fingerprint,
            "disjoint": not self.overlap,
            "covering": not self.unowned,
            "overlap": self.overlap,
            "skew": dict(self.skew),
            "counts": self.counts.tolist(),
        }

    def __repr__(self) -> str:
        return f"<partition {self.name}: {self.n_clients} clients, fingerprint {self.fingerprint[:12]}>"

    def _repr_html_(self) -> str:
        from equipoise.api.cards import partition_card

        return partition_card(self)


def partition(source: Source, settings: Settings = None, /, **more: Any) -> PartitionView:
    """The partition that `eq.run` with the same arguments would train on; nothing is trained or stored."""
    return divided(requested(source, settings, more))


def divided(request: Request) -> PartitionView:
    from equipoise.config.traits import LABELS
    from equipoise.data.splits import load_splits
    from equipoise.partition.allot import origin_of, partition_of
    from equipoise.partition.split_rows import owners_of

    config = request.config
    if LABELS not in config.kind.offers:
        fix = f"`equipoise data check {config.data.name}` shows users, items and splits"
        raise ConfigError("every user is a client of its own: there are no classes to divide", where="data", fix=fix)
    splits = load_splits(config.data, config.seed, request.data_path)
    made = partition_of(config.partition, splits, config.seed, request.data_path)
    view = view_of(made, tuple(splits.classes), getattr(config.partition, "alpha", None))
    return replace(view, ids=made.ids, owners=lambda: owners_of(made, origin_of(splits)))


def view_of(made: Partition, classes: tuple[str, ...], alpha: float | None) -> PartitionView:
    from equipoise.partition.divide import events

    return PartitionView(
        name=made.name,
        fingerprint=made.fingerprint,
        n_clients=len(made.indices),
        counts=made.counts,
        classes=classes,
        skew=made.skew,
        unowned=made.check.unowned,
        alpha=alpha,
        warnings=tuple(event.message for event in events(made)),
    )


def stored_partition(store: Store, run: Run) -> PartitionView:
    """The partition of a stored run; its classes are numbered, because the store does not know their names."""
    import numpy as np

    from equipoise.store import read

    if run.partition is None:
        raise ConfigError(f"run '{run.run_id}' has no partition", fix="a run has one from its first checkpoint on")
    known = read.partition(store, run.partition)
    said = [seen.event for seen in read.events(store, run.run_id) if seen.event.kind == "partition-overlap"]
    counts = np.asarray(known.counts)
    return PartitionView(
        name=known.name,
        fingerprint=known.fingerprint,
        n_clients=known.n_clients,
        counts=counts,
        classes=tuple(map(str, range(counts.shape[1]))),
        skew=known.skew,
        unowned=said[0].detail["unowned"] if said else 0.0,
        alpha=known.options.get("alpha"),
        warnings=tuple(event.message for event in said),
    )
