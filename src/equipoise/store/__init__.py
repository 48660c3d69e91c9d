"""Everything that happened, written down: one SQL database and content-addressed files beside it.

    database   open_store, default_location, Store
    write      create_run, commit_step, finish, rewind, …
    read       runs, find_run, checkpoints, …            (never waits for a writer)
    metrics    the recorded numbers, as rows, as a table, as the final values
    blobs      put, get, gc: weights and index maps as bytes
    locks      hold, is_alive: who is working on a run

Nothing here knows torch: weights are bytes.
"""
