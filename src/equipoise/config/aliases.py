"""Other common names of our keys. They are accepted everywhere and printed in canonical form."""

from __future__ import annotations

SYNONYMS: dict[str, tuple[str, ...]] = {
    "partition.alpha": ("alpha", "beta", "partition.beta"),
    "partition.clients": (
        "clients", "num_clients", "n_clients", "num_users", "K", "partition.num_clients", "partition.n_clients",
    ),
    "client.epochs": ("local_epochs", "E", "epochs", "client.local_epochs"),
    "client.batch": ("batch_size", "B", "batch", "client.batch_size"),
    "client.lr": ("lr", "learning_rate"),
    "client.momentum": ("momentum",),
    "client.weight_decay": ("weight_decay", "wd"),
    "server.fraction": ("fraction", "join_ratio", "frac", "C", "fraction_fit", "server.join_ratio"),
    "rounds": ("num_rounds", "global_rounds", "comm_round", "R"),
    "method.mu": ("mu",),
    "seed": ("random_seed",),
    "track.to": ("track",),
}  # fmt: skip

CANONICAL = {alias: key for key, aliases in SYNONYMS.items() for alias in aliases}
