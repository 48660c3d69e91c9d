"""Builds the documentation as a site, one folder per version: `make site`.

pages.py      the Markdown of the site, gathered from README, docs/ and the changelog
notebook.py   the tutorial that is a notebook, as a page
library.py    pages of `import equipoise as eq`, of its contract tests and of what plugins are made of
gallery.py    real runs on embedded data, their pictures and reports, as pages
navigation.py every page in its section, in the order of docs/index.md
versions.py   which version this is, and which are there
"""
