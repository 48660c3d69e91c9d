"""Where clients run: nodes, the roster, and one transport per file."""
