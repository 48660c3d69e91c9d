"""Comparison, tables and the report, from the store alone."""
