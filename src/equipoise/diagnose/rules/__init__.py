"""The rules, one failure per file: the signal as a formula, then a pure function that looks for it."""
