"""Why a run failed, read from what was written down; no torch."""
