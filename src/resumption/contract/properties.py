"""The contract: nine properties of a resume plane, and six obligations to its users.

The properties are those of "Resume Means Resume" (arXiv 2608.03836), consume-once split into its count and its effects,
with the protocol obligation FI and liveness beside the six safety properties. The obligations go beyond the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["CONTRACT", "OBLIGATIONS", "STATEMENTS", "Property", "Statement"]


class Property(StrEnum):
    """One column of the matrix. The value is the code that the paper and the reports use."""

    PREFIX_CONTINUATION = "PC"
    EFFECT_EXACTLY_ONCE = "EO"
    FORK_DETERMINISM = "FD"
    CHECKPOINT_VALIDITY = "CV"
    CONSUME_ONCE_COUNT = "CO-c"
    CONSUME_ONCE_EFFECTS = "CO-e"
    RECOVERY_DETERMINISM = "RD"
    FORK_INTENT = "FI"
    LIVENESS = "LV"
    RELOAD_EQUALS_LIVE = "RL"
    READ_INERTNESS = "RI"
    LOUD_ADDRESSING = "LA"
    NO_LOST_WORK = "LW"
    TOPOLOGY_DRIFT = "TD"
    LOAD_VALIDITY = "VL"


@dataclass(frozen=True, slots=True)
class Statement:
    """What a property asks, what it demands, and where the demand comes from."""

    name: str
    question: str
    statement: str
    source: str


_PAPER = "arXiv 2608.03836"

STATEMENTS: dict[Property, Statement] = {
    Property.PREFIX_CONTINUATION: Statement(
        "prefix continuation",
        "Where does execution continue?",
        "A resumed run continues from the state of its durable frontier, or from one re-derived from the durable log "
        "alone. Prefix code may run again only where every effect of the prefix is served from the record.",
        f"{_PAPER}, property PC",
    ),
    Property.EFFECT_EXACTLY_ONCE: Statement(
        "effect exactly-once",
        "May an effect fire twice on one branch?",
        "On one branch, each effect of a task fires at most once. Three paths are reported apart: recorded (the task's "
        "write was durable before the second fire), window (it was not), and race (both fires are of operations that "
        "were under way at once).",
        f"{_PAPER}, property EO",
    ),
    Property.FORK_DETERMINISM: Statement(
        "fork determinism",
        "Do n decisions at one interrupt give n outcomes?",
        "Resumes with fork intent and values v1 to vn at one interrupt give the outcomes g(v1) to g(vn), and fire the "
        "gate's effect once on each branch.",
        f"{_PAPER}, property FD",
    ),
    Property.CHECKPOINT_VALIDITY: Statement(
        "checkpoint validity",
        "Is every stored state one that the state schema allows?",
        "A write that breaks the state schema is refused with an error and is not stored.",
        f"{_PAPER}, property CV",
    ),
    Property.CONSUME_ONCE_COUNT: Statement(
        "consume-once, count",
        "How many resumes consume one interrupt?",
        "One interrupt is consumed by at most one resume, and one resume is consumed by at most one interrupt.",
        f"{_PAPER}, property CO, its count",
    ),
    Property.CONSUME_ONCE_EFFECTS: Statement(
        "consume-once, effects",
        "Does a second resume fire anything?",
        "A resume without fork intent at a consumed interrupt, or at a finished run, fires nothing again.",
        f"{_PAPER}, property CO, its effects",
    ),
    Property.RECOVERY_DETERMINISM: Statement(
        "recovery determinism",
        "Do identical logs give identical decisions?",
        "Two recoveries of identical durable logs take identical decisions to skip or to execute each task.",
        f"{_PAPER}, property RD",
    ),
    Property.FORK_INTENT: Statement(
        "fork-intent expressibility",
        "Can the API tell a retry from a fork?",
        "The resume protocol carries a discriminator between delivering a decision again and opening a branch. A copy "
        "of the store is not one.",
        f"{_PAPER}, Proposition 1",
    ),
    Property.LIVENESS: Statement(
        "liveness",
        "Can the run be brought to its end?",
        "A crashed or parked run can be brought to completion through a documented form of resume.",
        f"{_PAPER}, property LV",
    ),
    Property.RELOAD_EQUALS_LIVE: Statement(
        "reload equals live",
        "Is what is read back what the running process saw?",
        "State read back by another process equals the state that the running process saw.",
        "user obligation, beyond the paper",
    ),
    Property.READ_INERTNESS: Statement(
        "read inertness",
        "Does looking change anything?",
        "Inspection changes no durable state and fires nothing.",
        "user obligation, beyond the paper",
    ),
    Property.LOUD_ADDRESSING: Statement(
        "loud addressing",
        "Is a wrong address refused?",
        "A decision for an unknown, stale or consumed address is refused with a signal.",
        "user obligation, beyond the paper",
    ),
    Property.NO_LOST_WORK: Statement(
        "no lost work",
        "Does a recovery drop a task that never ran?",
        "A run that reads as finished has run every task of its program.",
        "user obligation, beyond the paper",
    ),
    Property.TOPOLOGY_DRIFT: Statement(
        "topology drift",
        "What happens to a parked run when its program changes?",
        "A parked run whose program changed is refused, or resumed by a defined rule; no task is skipped in silence.",
        "user obligation, beyond the paper",
    ),
    Property.LOAD_VALIDITY: Statement(
        "validity at load",
        "Is broken state refused when it is read?",
        "Durable state that breaks its schema is refused with an error when it is loaded: nothing runs on it, and "
        "nobody is handed it as sound.",
        f"user obligation; {_PAPER} counts it as property CV where the caller does the writing",
    ),
}
"""The sentences of the contract, by property."""

CONTRACT: tuple[Property, ...] = tuple(Property)[:9]
"""The nine columns of the matrix, in the paper's order."""

OBLIGATIONS: tuple[Property, ...] = tuple(Property)[9:]
"""The user obligations, reported beside the matrix."""
