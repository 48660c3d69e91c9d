"""Merges and predictors: one per file."""
