"""Benchmarks: ratios of two ways of doing the same work."""
