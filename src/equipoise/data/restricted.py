"""Read Python 2 pickles of numpy arrays without running any code in them.

CIFAR's python archives are pickles, and a pickle may call any function. This reader accepts only the
three names that an array is made of and refuses every other.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

from equipoise.core.errors import DataError
from equipoise.data.source import damaged

_RECONSTRUCT = np.empty(0).__reduce__()[0]
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}
_FAULTS = (
    pickle.UnpicklingError, EOFError, ValueError, KeyError, IndexError, AttributeError, TypeError, OverflowError,
    MemoryError,
)  # fmt: skip
"""What reading a damaged pickle raises, by the documentation of `pickle` and by trial."""


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            what = f"a pickled batch asks for {module}.{name}, which no array needs; nothing was run"
            raise DataError(what, fix="do not trust this file: get the archive again from its authors")
        return _ALLOWED[module, name]


def read_pickle(data: bytes, where: str) -> dict[bytes, Any]:
    """The dictionary of a CIFAR batch, with byte strings as keys."""
    try:
        content = _ArraysOnly(io.BytesIO(data), encoding="bytes").load()
    except DataError as error:
        raise DataError(error.what, where=where, fix=error.fix) from error
    except _FAULTS as error:
        raise damaged(where, f"it is not a whole pickle ({error})") from error
    if not isinstance(content, dict):
        raise damaged(where, f"expected a pickled dictionary, found {type(content).__name__}")
    return content
