"""Files that a run writes: checked before anything is measured, so that no measurement is lost for a wrong path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resumption.errors import OutputUnwritable

__all__ = ["check_writable", "writing"]


def check_writable(path: Path) -> None:
    """Raise `OutputUnwritable` if `path` can't be written. An existing file is left as it is, a missing one missing."""
    existed = path.exists()
    with writing(path):
        path.open("ab").close()
        if not existed:
            path.unlink()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise `OutputUnwritable` for an error of the operating system in the block, which writes `path`."""
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> OutputUnwritable:
    return OutputUnwritable(f"{path} can't be written: {error.strerror}.", advice="Name a file in a folder you own.")
