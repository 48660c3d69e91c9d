"""Values that travel, errors, named random streams, the clock, registries, the codec."""
