"""Every error that resumption raises, in one place.

Each error has a stable code (`RSM-…`) with a section in `docs/errors.md`, and its message says what happened, to what,
and what to do about it.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "AlreadyConsumed",
    "AmbiguousAnswer",
    "BackendMissing",
    "ComparisonImpossible",
    "DecisionMissing",
    "DecisionPending",
    "DeliveryMismatch",
    "DrillFailed",
    "EffectNotFound",
    "EffectRunning",
    "EmptyAnswer",
    "EnvironmentBroken",
    "EnvironmentUnavailable",
    "ExpiringLeases",
    "Fenced",
    "GuardError",
    "HistoryUnreadable",
    "HostsUnavailable",
    "InDoubt",
    "InvalidCheckpoint",
    "KeyArgumentMissing",
    "KeyReused",
    "KeyUnusable",
    "LeaseImpossible",
    "LedgerError",
    "LedgerUnavailable",
    "NotPending",
    "NotResolvable",
    "NothingObserved",
    "NothingToFork",
    "OutputUnwritable",
    "PostgresMissing",
    "ProgramChanged",
    "ReceiptUnreadable",
    "ReplayRefused",
    "ResultAbsent",
    "ResumptionError",
    "RowUnreadable",
    "RunBusy",
    "SchemaMismatch",
    "StatementsUnreadable",
    "StubMissing",
    "Superseded",
    "SupersededCheckpoint",
    "TargetNotFound",
    "TargetUnreadable",
    "TargetUnusable",
    "ThreadTaken",
    "ToolMissing",
    "UnknownAddress",
    "UnknownName",
    "UnknownRecord",
    "Unrecorded",
    "UnstorableValue",
    "UnsupportedEffect",
    "UnsupportedRelease",
    "UnsupportedSaver",
    "UnusableName",
    "UnusableSetting",
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


class UnusableSetting(ResumptionError):
    """An argument of `guard`, or of a `Ledger`, has a value that can't be meant."""

    code = "RSM-001"


class HistoryUnreadable(ResumptionError):
    """A history file is not one, or a line of it can't be understood. The message names file and line."""

    code = "RSM-101"


class ReceiptUnreadable(ResumptionError):
    """A receipt (or baseline) file is not one, or is of another format version."""

    code = "RSM-102"


class StatementsUnreadable(ResumptionError):
    """A plane's file of citable statements is not one. The message names the plane's package and the entry."""

    code = "RSM-103"


class OutputUnwritable(ResumptionError):
    """A file that a command was asked to write can't be written. The message names the file."""

    code = "RSM-104"


class RowUnreadable(ResumptionError):
    """A row of the guard's or the ledger's tables holds what can't be read.

    `table` and `column` name the place, `row` the thread or the key. Nothing ran, and no effect fired by that row.
    """

    code = "RSM-105"

    def __init__(self, what: str, *, advice: str, table: str = "", column: str = "", row: str = "") -> None:
        super().__init__(what, advice=advice)
        self.table = table
        self.column = column
        self.row = row


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


class PostgresMissing(ResumptionError):
    """The PostgreSQL server programs are not installed, or a throwaway server did not start."""

    code = "RSM-303"


class EnvironmentUnavailable(ResumptionError):
    """An isolated environment can't be resolved or made: no uv, network or such version, or other files than locked."""

    code = "RSM-304"


class ToolMissing(ResumptionError):
    """What was asked for needs a tool or an extra that isn't installed. The message says how to get it."""

    code = "RSM-305"


class BackendMissing(ResumptionError):
    """A storage backend needs a distribution that isn't installed beside the framework."""

    code = "RSM-306"


class HostsUnavailable(ResumptionError):
    """Hosts for a race, which are network namespaces, can't be made on this machine."""

    code = "RSM-307"


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
    """The store of a ledger, or of a guarded checkpointer, could not be read or written in time. Nothing was fired."""

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


class GuardError(ResumptionError):
    """Base of what a guarded graph raises. `branch` names the decision behind the refusal.

    `interrupt` is the id of the interrupt that the answer was found to be for; empty where none was.
    """

    code = "RSM-500"

    def __init__(self, what: str, *, advice: str, branch: str = "", interrupt: str = "") -> None:
        super().__init__(what, advice=advice)
        self.branch = branch
        self.interrupt = interrupt


class Fenced(GuardError):
    """A write of an executor that was replaced, or of a forked child of it. Nothing of it was stored."""

    code = "RSM-501"


class RunBusy(GuardError):
    """Another executor has the thread and didn't finish in time. Nothing was recorded."""

    code = "RSM-502"


class AlreadyConsumed(GuardError):
    """The interrupt was claimed by another decision, which is being executed or was. Nothing ran."""

    code = "RSM-503"


class DecisionPending(GuardError):
    """The interrupt was claimed by another decision, whose executor is gone. Recover that one, or fork."""

    code = "RSM-504"


class UnknownAddress(GuardError):
    """The interrupt or the checkpoint that was named was never issued for this thread. Nothing ran."""

    code = "RSM-505"


class AmbiguousAnswer(GuardError):
    """The answer names no interrupt, and several could take it. Nothing ran."""

    code = "RSM-506"


class EmptyAnswer(GuardError):
    """The resume names no interrupt and carries no value. Nothing ran."""

    code = "RSM-507"


class SupersededCheckpoint(GuardError):
    """The checkpoint that was named is not the newest of its thread, and the call carries no fork intent."""

    code = "RSM-508"


class DeliveryMismatch(GuardError):
    """The delivery id was used before, for another payload. Nothing ran."""

    code = "RSM-509"


class UnsupportedSaver(GuardError):
    """The graph's checkpointer is of a kind that can't be guarded."""

    code = "RSM-510"


class UnsupportedRelease(GuardError):
    """This release of the framework lacks something that the guard builds on, so it refuses to guard half."""

    code = "RSM-511"


class LeaseImpossible(GuardError):
    """No lock here ends with its holder, and no lease can be written down: executors can't be told apart."""

    code = "RSM-512"


class InvalidCheckpoint(GuardError):
    """A write breaks the state schema. Nothing of it was stored, and nothing behind it ran."""

    code = "RSM-513"


class NotPending(GuardError):
    """No interrupt waits for this answer: none was raised, or the run doesn't wait for it any more. Nothing ran."""

    code = "RSM-514"


class NothingToFork(GuardError):
    """There is no interrupt at the place that was to be forked, so the decision would have no receiver."""

    code = "RSM-515"


class ThreadTaken(GuardError):
    """A thread that was to receive a copy of another has checkpoints of its own. Nothing was copied."""

    code = "RSM-516"


class ProgramChanged(GuardError):
    """The program has no node that can have raised the interrupt, so the answer has no receiver. Nothing ran."""

    code = "RSM-517"


class UnstorableValue(GuardError):
    """A decision, or a delivery's input, is of a type that the checkpointer's serializer can't store."""

    code = "RSM-518"


class UnusableName(GuardError):
    """A thread, a delivery, a checkpoint or an interrupt has a name that no store can hold. Nothing ran."""

    code = "RSM-519"


class TargetNotFound(ResumptionError):
    """What a drill was given can't be imported: the program, an effect, or a stub. The message has the reason."""

    code = "RSM-601"


class TargetUnusable(ResumptionError):
    """What a drill was given is no graph, or its factory failed."""

    code = "RSM-602"


class EffectNotFound(ResumptionError):
    """What was named as an effect is no function that can be exchanged for one that is on record."""

    code = "RSM-603"


class StubMissing(ResumptionError):
    """Nothing is known that a stubbed effect could return, or what was given is not what the effect returns."""

    code = "RSM-604"


class NothingObserved(ResumptionError):
    """No named effect fired in a run without faults, so that a drill could not have found anything."""

    code = "RSM-605"


class DecisionMissing(ResumptionError):
    """A gate asked, and nobody said how to answer it; or an answer was given for a gate that never asked."""

    code = "RSM-606"


class DrillFailed(ResumptionError):
    """The program doesn't come to its end even without a fault, so that nothing can be compared with it."""

    code = "RSM-607"


class KeyArgumentMissing(ResumptionError):
    """What was named as the idempotency key of an effect is none of the arguments that it is called with."""

    code = "RSM-608"


class ReplayRefused(ResumptionError):
    """A receipt's drill can't be run again as it was: its folder is not here, or it called effects for real."""

    code = "RSM-609"


class ExpiringLeases(UserWarning):
    """No error: threads are leased here for a time, since nothing frees the lock of an executor that dies.

    Said once for each database. A thread whose executor was killed can be had only when its lease has run out.
    """
