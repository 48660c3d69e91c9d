"""The five answers: one method per file; `resolve` fills in what is left open."""
