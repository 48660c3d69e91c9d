"""Merges and ways to predict: one per file."""
