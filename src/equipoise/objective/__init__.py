"""Loss terms, as pure functions."""
