"""Accuracy, ranking, geometry, and the judges that score a checkpoint."""
