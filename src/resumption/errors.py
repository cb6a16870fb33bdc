"""Every error that resumption raises, in one place.

Each error has a stable code (`RSM-…`) with a section in `docs/errors.md`, and its message says what happened, to what,
and what to do about it.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "BackendMissing",
    "ComparisonImpossible",
    "EffectRunning",
    "EnvironmentBroken",
    "EnvironmentUnavailable",
    "HistoryUnreadable",
    "HostsUnavailable",
    "InDoubt",
    "KeyReused",
    "KeyUnusable",
    "LedgerError",
    "LedgerUnavailable",
    "NotResolvable",
    "PostgresMissing",
    "ReceiptUnreadable",
    "ResultAbsent",
    "ResumptionError",
    "SchemaMismatch",
    "Superseded",
    "TargetUnreadable",
    "UnknownName",
    "UnknownRecord",
    "Unrecorded",
    "UnsupportedEffect",
    "WorkerLost",
]


class ResumptionError(Exception):
    """Base of all errors of this package."""

    code: ClassVar[str] = "RSM-000"

    def __init__(self, what: str, *, advice: str) -> None:
        super().__init__(what)
        self.what = what
        self.advice = advice

    def __str__(self) -> str:
        return f"[{self.code}] {self.what} {self.advice}"


class HistoryUnreadable(ResumptionError):
    """A history file is not one, or a line of it can't be understood. The message names file and line."""

    code = "RSM-101"


class ReceiptUnreadable(ResumptionError):
    """A receipt (or baseline) file is not one, or is of another format version."""

    code = "RSM-102"


class UnknownName(ResumptionError):
    """A plane, probe, property, form or error code that nobody has registered."""

    code = "RSM-201"


class TargetUnreadable(ResumptionError):
    """What was asked to be measured isn't written as `PLANE[BACKEND,…]@VERSION,…`, or can't have a version."""

    code = "RSM-202"


class ComparisonImpossible(ResumptionError):
    """Two receipts have no cell in common, or one holds several versions of the same cell."""

    code = "RSM-203"


class EnvironmentBroken(ResumptionError):
    """The framework under test can't be imported in its environment, so nothing could be measured."""

    code = "RSM-301"


class WorkerLost(ResumptionError):
    """A worker process ended, or stopped answering, where the protocol didn't ask it to."""

    code = "RSM-302"


class LedgerError(ResumptionError):
    """Base of what the effect ledger raises. `key` names the record, `branch` the decision behind the refusal."""

    code = "RSM-400"

    def __init__(self, what: str, *, advice: str, key: str = "", branch: str = "") -> None:
        super().__init__(what, advice=advice)
        self.key = key
        self.branch = branch


class InDoubt(LedgerError):
    """The effect was begun and nobody can say whether it fired. It was not fired again."""

    code = "RSM-401"


class KeyReused(LedgerError):
    """The key's record belongs to a call with other arguments. Nothing was fired, nothing was served."""

    code = "RSM-402"


class EffectRunning(LedgerError):
    """Another call with this key is still running, and its owner is alive. Nothing was fired."""

    code = "RSM-403"


class Superseded(LedgerError):
    """The record was settled or taken over by somebody else before this attempt could commit.

    `result` is what this attempt's call returned; it was not recorded.
    """

    code = "RSM-404"

    def __init__(self, what: str, *, advice: str, key: str = "", branch: str = "", result: object = None) -> None:
        super().__init__(what, advice=advice, key=key, branch=branch)
        self.result = result


class Unrecorded(LedgerError):
    """The effect fired, but the store could not be reached to say so. `result` is what the call returned.

    The process goes on trying at each later use of the ledger; until then the record reads as running, and after the
    process's death as in doubt.
    """

    code = "RSM-405"

    def __init__(self, what: str, *, advice: str, key: str = "", branch: str = "", result: object = None) -> None:
        super().__init__(what, advice=advice, key=key, branch=branch)
        self.result = result


class LedgerUnavailable(LedgerError):
    """The store could not be read or written in time. Nothing was fired."""

    code = "RSM-406"


class ResultAbsent(LedgerError):
    """The effect fired and is committed, but its result could not be kept (or read back). It was not fired again."""

    code = "RSM-407"


class KeyUnusable(LedgerError):
    """No usable key: none given outside a task scope, or one that can't be stored, or asked for outside an effect."""

    code = "RSM-408"


class UnsupportedEffect(LedgerError):
    """What was decorated or called can't be an effect: a generator, or a mix of sync and async."""

    code = "RSM-409"


class SchemaMismatch(LedgerError):
    """The store's tables are of a version that this release doesn't know, or of another ledger."""

    code = "RSM-410"


class UnknownRecord(LedgerError):
    """No record under this key."""

    code = "RSM-411"


class NotResolvable(LedgerError):
    """The record has no open question, or its effect is still running."""

    code = "RSM-412"


class PostgresMissing(ResumptionError):
    """The PostgreSQL server programs are not installed, or a throwaway server did not start."""

    code = "RSM-303"


class EnvironmentUnavailable(ResumptionError):
    """An isolated environment can't be resolved or made: no uv, network or such version, or other files than locked."""

    code = "RSM-304"


class BackendMissing(ResumptionError):
    """A storage backend needs a distribution that isn't installed beside the framework."""

    code = "RSM-306"


class HostsUnavailable(ResumptionError):
    """Hosts for a race, which are network namespaces, can't be made on this machine."""

    code = "RSM-307"
