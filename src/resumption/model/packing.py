"""States packed into machine words: how millions of them fit into memory and are handled at once.

A `Layout` gives every variable of the contract's state a few bits of a 64-bit word. A `Columns` is a set of states, one
column each, whose variables are read and written for all states at once. The encoding is one-to-one on the states
that the contract's actions can reach, whichever faults are on; `decode` turns a column back into a `State`.

The log needs one remark. Every recovery continues at the first task or behind the frontier, so the log is a
concatenation of runs 1, 2, …, e. It is stored as the ends of its finished runs (`run_ends`) and the end of the last
one, which is the frontier. The validity of a record follows from its task and the faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from resumption.model.semantics import Bounds, Fault, Faults, Record, Recovery, State

__all__ = ["Columns", "Layout", "Mask", "Words", "decode", "initial_columns", "layout_for"]

Words: TypeAlias = npt.NDArray[np.uint64]
Mask: TypeAlias = npt.NDArray[np.bool_]

WORD = 64


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a variable lives: `count` entries of `width` bits, from bit `shift` of one word."""

    word: int
    shift: int
    width: int
    count: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The bits of every variable at given bounds."""

    slots: Mapping[str, Slot]
    words: int


def layout_for(bounds: Bounds) -> Layout:
    """Place every variable at these bounds; a sequence never straddles two words."""
    task, value = (bounds.tasks + 1).bit_length(), bounds.values.bit_length()
    crash, extra, fork = (bounds.crashes.bit_length(), bounds.extras.bit_length(), (bounds.resumes - 1).bit_length())
    fires = (1 + bounds.crashes + bounds.extras).bit_length()
    wanted = {
        "effects": (fires, bounds.tasks),
        "recovered_from": (task, bounds.crashes),
        "resumed_at": (task, bounds.crashes),
        "run_ends": (task, bounds.crashes),
        "fork_values": (value, bounds.resumes - 1),
        "fork_outcomes": (value, bounds.resumes - 1),
        "pc": (task, 1),
        "durable": (task, 1),
        "consumed": (value, 1),
        "runs": (crash, 1),
        "crashes": (crash, 1),
        "extras": (extra, 1),
        "forks": (fork, 1),
        "waiting": (1, 1),
        "prefix_regress": (1, 1),
        "invalid_record": (1, 1),
    }
    slots: dict[str, Slot] = {}
    used: list[int] = []
    for name, (width, count) in wanted.items():
        size = width * count
        if size > WORD:
            raise ValueError(f"{name} needs {size} bits at {bounds}; the packed checker holds {WORD} at most")
        word = next((word for word, bits in enumerate(used) if bits + size <= WORD), len(used))
        if word == len(used):
            used.append(0)
        # A variable without bits (a budget of zero) still has a place: shifting by 63 keeps it legal and reads 0.
        slots[name] = Slot(word, min(used[word], WORD - 1), width, count)
        used[word] += size
    return Layout(slots, len(used))


@dataclass(slots=True)
class Columns:
    """A set of states, one per column of `words`. Reads and writes are noted, by variable."""

    layout: Layout
    words: Words
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)

    def __len__(self) -> int:
        return int(self.words.shape[1])

    def select(self, mask: Mask) -> Columns:
        """A copy of the states where `mask` holds."""
        return Columns(self.layout, np.compress(mask, self.words, axis=1), self.reads, self.writes)

    def first(self) -> Columns:
        """The first state alone."""
        return Columns(self.layout, self.words[:, :1].copy())

    def copy(self) -> Columns:
        """A copy of all states."""
        return Columns(self.layout, self.words.copy(), self.reads, self.writes)

    def read(self, name: str, entry: int = 0) -> Words:
        """The value of a variable (of one entry of a sequence, counted from 0) in every state."""
        self.reads.add(name)
        slot = self.layout.slots[name]
        bits = self.words[slot.word] >> np.uint64(slot.shift + entry * slot.width)
        value: Words = bits & np.uint64((1 << slot.width) - 1)
        return value

    def holds(self, name: str) -> Mask:
        """The value of a Boolean variable in every state."""
        mask: Mask = self.read(name) != 0
        return mask

    def write(self, name: str, value: Words | int) -> None:
        """Set a plain variable in every state."""
        self.writes.add(name)
        slot = self.layout.slots[name]
        cleared = np.uint64(~(((1 << slot.width) - 1) << slot.shift) & (1 << WORD) - 1)
        self.words[slot.word] &= cleared
        self.words[slot.word] |= np.asarray(value, dtype=np.uint64) << np.uint64(slot.shift)

    def add(self, name: str, amount: Words | int = 1, entry: Words | int = 0) -> None:
        """Add to a variable (to the entry of a sequence that `entry` names, per state).

        Raises `OverflowError` rather than spill into a neighbour: the layout's bounds were then wrong.
        """
        self.writes.add(name)
        slot = self.layout.slots[name]
        shift = np.uint64(slot.shift) + np.asarray(entry, dtype=np.uint64) * np.uint64(slot.width)
        top = np.uint64((1 << slot.width) - 1)
        before = (self.words[slot.word] >> shift) & top
        added = np.asarray(amount, dtype=np.uint64)
        if np.any(before + added > top) or np.any(np.asarray(entry) >= max(slot.count, 1)):
            raise OverflowError(f"{name} does not fit into its {slot.count} entries of {slot.width} bits")
        self.words[slot.word] += added << shift


def initial_columns(bounds: Bounds) -> Columns:
    """The one initial state: nothing done, the first task next."""
    layout = layout_for(bounds)
    states = Columns(layout, np.zeros((layout.words, 1), dtype=np.uint64))
    states.write("pc", 1)
    return states


def decode(bounds: Bounds, faults: Faults, states: Columns, column: int) -> State:
    """The state in one column, in the vocabulary of `semantics`."""

    one = Columns(states.layout, states.words[:, column : column + 1])

    def entries(name: str, length: int) -> tuple[int, ...]:
        return tuple(int(one.read(name, entry)[0]) for entry in range(length))

    def value(name: str) -> int:
        return int(one.read(name)[0])

    corrupting = Fault.INVALID_PERSIST in faults and bounds.gate != bounds.tasks
    run_ends = (*entries("run_ends", value("runs")), value("durable"))
    log = (Record(task, not (corrupting and task == bounds.tasks)) for end in run_ends for task in range(1, end + 1))
    crashes, forks = value("crashes"), value("forks")
    recoveries = zip(entries("recovered_from", crashes), entries("resumed_at", crashes), strict=True)
    return State(
        pc=value("pc"),
        effects=entries("effects", bounds.tasks),
        log=tuple(log),
        durable=value("durable"),
        waiting=bool(value("waiting")),
        consumed=value("consumed"),
        fork_values=entries("fork_values", forks),
        fork_outcomes=entries("fork_outcomes", forks),
        crashes=crashes,
        recoveries=tuple(Recovery(found, resumed) for found, resumed in recoveries),
        extras=value("extras"),
        prefix_regress=bool(value("prefix_regress")),
    )
