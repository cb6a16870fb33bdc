"""What trials have in common: the first half of a protocol is run once, and every trial that has it goes on from there.

Many trials begin alike: the same program on the same backend, run until the same fault kills it; what they try comes
after. The first of them runs its own, and what it left is kept: the store, the effect record, and the events up to the
death of its process. The others start from copies of these, so that recoveries are compared from one and the same
crash. A history is whole either way: the events of the process that all shared stand in each.

Only what a process left that is dead, or has ended, can be kept. Nothing of a trial behind its first half is ever seen
here.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from resumption.harness.stores import Kept
from resumption.history.workload import Workload
from resumption.worker.faults import Fault

__all__ = ["Beginning", "Prefix", "Prefixes", "Shelf", "copy_record"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """What a first half is the same by: where it is run, what, and until when."""

    plane: str
    path: str
    backend: str
    form: str
    """The form in which its decisions are delivered."""
    workload: Workload
    fault: Fault | None
    """Where it ends; None if it is run to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """What a first half left."""

    folder: Path
    """Where its files are: the effect record `oracle.db`, and the log of its process."""
    store: Kept
    events: bytes
    """The lines of the history behind its header."""
    operations: int
    deliveries: int


@dataclass(slots=True)
class Shelf:
    """Where one prefix is kept, once there is one. Whoever has its turn looks, and puts it there."""

    folder: Path
    prefix: Prefix | None = None
    turn: threading.Lock = field(default_factory=threading.Lock)


class Prefixes:
    """The prefixes of one installation, in a folder that is removed with the run. Jobs on any threads share them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._shelves: dict[Beginning, Shelf] = {}

    @contextmanager
    def turn(self, beginning: Beginning) -> Iterator[Shelf]:
        """Look at a shelf alone. Others that begin alike wait, so that no first half is run twice at a time."""
        with self._lock:
            shelf = self._shelves.get(beginning)
            if shelf is None:
                shelf = self._shelves[beginning] = Shelf(self._folder / f"prefix-{len(self._shelves) + 1}")
        with shelf.turn:
            yield shelf


def copy_record(record: Path, folder: Path) -> None:
    """Copy an effect record that nobody has open, byte for byte, with what stands in its journal only."""
    for file in record.parent.glob(f"{record.name}*"):
        shutil.copyfile(file, folder / file.name)
