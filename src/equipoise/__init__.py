"""Federated learning that keeps its balance, and explains itself when it loses it."""

__version__ = "0.1.0"
