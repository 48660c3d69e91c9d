"""Networks. Nothing federated inside."""
