"""A notebook as a page: its text, its cells as blocks of Python, and the notebook itself to take along."""

from __future__ import annotations

import json


def as_markdown(text: str, name: str) -> str:
    """The cells in their order. The notebook is kept without outputs, so none are shown."""
    cells = [block(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    title, *others = cells
    offer = f"[Take the notebook]({name}){{ .md-button download }}"
    return "\n\n".join([title, offer, *others]) + "\n"


def block(kind: str, source: str) -> str:
    return f"```python\n{source.rstrip()}\n```" if kind == "code" else source
