"""Ways to predict that need the clients again after their upload: never one-shot, and marked wherever they are shown.

Rooms that read the store alone have to know them, so they stand here and not beside their code; a contract test asks
every way to predict whether it sends anything to the clients.
"""

from __future__ import annotations

SECOND_EXCHANGE = frozenset({"recalibrated-average", "statistics-exchange"})
