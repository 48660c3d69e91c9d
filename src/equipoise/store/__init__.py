"""Keeps everything that runs record: one SQL database, and content-addressed files beside it.

    database   open_store, default_location, Store
    write      create_run, commit_step, finish, rewind, …
    read       runs, find_run, checkpoints, …            (never waits for a writer)
    metrics    recorded numbers as rows, as a table, or as final values
    blobs      put, get, gc: weights and index maps as bytes
    locks      hold, is_alive: which process works on a run

This room does not import torch: weights are bytes.
"""
