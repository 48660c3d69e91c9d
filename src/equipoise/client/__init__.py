"""The one training loop, and a client's data as steps."""
