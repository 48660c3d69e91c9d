"""Settings: schema, blocks, aliases, presets, and what fits together."""
