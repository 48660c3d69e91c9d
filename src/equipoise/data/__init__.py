"""Readers of images, interactions and tables; splits, augmentation, download."""
