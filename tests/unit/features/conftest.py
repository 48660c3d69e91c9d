"""The fixtures of the data room: a cache of its own, an empty data folder, real files where they are."""

from tests.unit.data.conftest import cache, folder, real_data, rng

__all__ = ["cache", "folder", "real_data", "rng"]
