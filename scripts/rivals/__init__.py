"""Equipoise beside other simulators: pfl-research (`pfl`) and Flower (`flwr` with `ray`), where they are installed."""
