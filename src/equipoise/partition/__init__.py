"""Who owns which sample: one splitter per file, and the check."""
