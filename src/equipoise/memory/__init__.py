"""What a recommender's client remembers."""
