"""Real client machines through Flower: a driver's link to the server, and what a machine does with its messages."""
