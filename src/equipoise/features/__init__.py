"""Item features from text and images: encode, check, load."""
