"""One failure per file: the signal first, then a pure function that looks for it."""
