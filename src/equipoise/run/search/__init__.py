"""A search over settings: ranges, what chooses from them, trials that are runs, and who is stopped early."""
