"""Accuracy, ranking, geometry, and who judges a checkpoint."""
