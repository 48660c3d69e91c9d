"""λ policies: one per file, formula first."""
