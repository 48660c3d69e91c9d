"""Copies of runs in the trackers of others, and runs of others in the store.

    sink                 what a tracker does: open, send, close; one tracker per file, `to_*.py`
    feed                 a thread that sends what the store has and the tracker has not
    following, backfill  feeds of a run that goes on; of a finished one
    gather               reads another tool's history; one tool per file, `from_*.py`
    adopt                puts it into the store as a finished run

A feed reads the store and never the run, so a tracker that fails or is slow costs the run nothing and loses nothing.
"""
