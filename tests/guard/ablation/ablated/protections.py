"""The guarded planes with one protection taken out: the negative controls of the guard.

An adapter like the guarded plane's own. Which protection is missing comes from an environment variable, since a plane
runs in processes of its own. What takes its place is what stock LangGraph does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from langgraph.types import Command

from resumption.decide.claim import Claim as Verdict
from resumption.errors import Fenced
from resumption.guard.langgraph import admission, binding, deciding, guarding, loops
from resumption.guard.langgraph.calls import Call
from resumption.guard.langgraph.house import House, Run
from resumption.guard.langgraph.savers import base
from resumption.guard.langgraph.sight import Sight
from resumption.guard.langgraph.slots import NULL_TASK, RESUME, putting
from resumption.guard.langgraph.steps import Course
from resumption.guard.langgraph.tenure import Tenure
from resumption.planes.langgraph_guarded import runs

__all__ = ["ABLATIONS", "SWITCH", "ablate"]

SWITCH = "RESUMPTION_TEST_WITHOUT"
"""The environment variable that names what is missing; several are separated by commas."""


class _Nothing:
    """A lock that excludes nobody."""

    exclusive = True
    expires = False
    seen = None

    def holds(self) -> bool:
        """As if."""
        return True

    def release(self) -> None:
        """Nothing to free."""


def _no_lease() -> None:
    """Whoever calls, runs."""
    from resumption.guard.claims.locks import FileLocks, ProcessLocks

    for locks in (FileLocks, ProcessLocks):
        locks.attempt = lambda self, thread: _Nothing()  # type: ignore[method-assign]  # taken out on purpose


def _no_fence() -> None:
    """Whoever writes, is stored."""
    base.fenced.__code__ = (lambda sql, tenure: (yield from ()) or 0).__code__  # looked up by name in every saver


def _no_claims() -> None:
    """An answer is taken whoever gave one before, and isn't kept for those who come later."""
    admission.claim = lambda **known: Verdict.CONSUMED  # type: ignore[attr-defined]  # taken out where it is looked up

    def claiming(*_: Any) -> Any:
        yield from ()

    deciding.protocol.claiming = claiming  # type: ignore[attr-defined]  # taken out where it is looked up


def _no_binding() -> None:
    """An answer goes to whatever is asked when its turn has come, named or not."""
    named = binding._named

    def unnamed(answer: Any, sight: Sight) -> Any:
        try:
            return named(answer, sight)
        except admission.UnknownAddress:
            return binding.Bound(answer, f"{binding.ANYBODY}{sight.superstep.head}", "")

    binding._named = unnamed


def _no_slot() -> None:
    """An answer is left for whoever asks first, as stock LangGraph leaves one that names no interrupt."""

    def slotting(call: Call, house: House, sight: Sight, one: binding.Bound) -> Any:
        at = ("", sight.superstep.head, NULL_TASK)
        packed = house.keeper.serde.dumps_typed(one.answer.value)
        yield from putting(house.keeper.guard_slots, call.thread, at, RESUME, packed)

    def spent(*_: Any) -> Any:
        yield from ()

    deciding._slotting = slotting
    base.spent = spent  # type: ignore[attr-defined]  # taken out where it is looked up


def _no_fork() -> None:
    """A fork is a resume at the checkpoint."""

    def forked(call: Call, house: House, tenure: Tenure) -> Course[Run]:
        yield from ()
        configurable = {**call.config["configurable"], "checkpoint_id": call.checkpoint}
        (answer,) = call.answers
        at = replace(call, config={**call.config, "configurable": configurable})
        return Run(tenure, Command(resume=answer.value), at)

    admission.forked = forked  # type: ignore[attr-defined]  # taken out where it is looked up


def _no_validity() -> None:
    """A node may leave any state behind."""
    guarding.validated = lambda compiled, nodes, **_: dict(nodes)  # type: ignore[attr-defined]  # taken out where it is used


def _no_order() -> None:
    """Writes become durable in any order."""
    loops._Ordering.submit = property(  # type: ignore[method-assign, assignment]  # taken out on purpose
        lambda self: self._saving, loops._Ordering.submit.fset
    )


def _no_ledger() -> None:
    """An effect fires whenever its code runs."""
    runs.LedgeredEffects.fire = (  # type: ignore[method-assign]  # taken out on purpose
        lambda self, effect, *, task, value: self._fire_once(effect, task, value)
    )


def _no_memory_of_answers() -> None:
    """A task that runs again stores the answers that it got to ask for, and forgets the rest."""

    def keeping(serde: Any, slots: Any, config: Any, writes: Any, task: str) -> Any:
        yield from ()
        return writes

    base.keeping = keeping  # type: ignore[attr-defined]  # taken out where it is looked up


# What the paper tried first, and found to come too late: the loop has read what it runs on before it writes. ----------


def _claims_at_the_write() -> None:
    """A decision is claimed when its task's answer is stored, not before the run reads."""
    _no_lease()
    _no_fence()
    _no_claims()
    taken: set[tuple[str, str]] = set()
    store = base.BlockingSaver.put_writes

    def put_writes(self: Any, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        if task_id != NULL_TASK and any(channel == RESUME for channel, _ in writes):
            where = (config["configurable"]["thread_id"], task_id)
            if where in taken:
                raise Fenced("Somebody else's answer was stored.", advice="")
            taken.add(where)
        store(self, config, writes, task_id, task_path)

    base.BlockingSaver.put_writes = put_writes  # type: ignore[method-assign]  # taken out on purpose


def _fork_at_the_write() -> None:
    """A resume at a checkpoint makes its branch when its decision is stored: earlier answers are dropped then."""
    _no_fork()
    store = base.BlockingSaver.put_writes

    def put_writes(self: Any, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        if task_id == NULL_TASK and any(channel == RESUME for channel, _ in writes):
            where = config["configurable"]
            self.conn.execute(
                "DELETE FROM writes WHERE thread_id = ? AND checkpoint_id = ? AND channel = ?",
                (where["thread_id"], where["checkpoint_id"], RESUME),
            )
            self.conn.commit()
        store(self, config, writes, task_id, task_path)

    base.BlockingSaver.put_writes = put_writes  # type: ignore[method-assign]  # taken out on purpose


ABLATIONS: dict[str, Callable[[], None]] = {
    "lease": _no_lease,
    "claims": _no_claims,
    "binding": _no_binding,
    "slot": _no_slot,
    "fork": _no_fork,
    "validity": _no_validity,
    "order": _no_order,
    "ledger": _no_ledger,
    "fence": _no_fence,
    "answers": _no_memory_of_answers,
    "claims at the write": _claims_at_the_write,
    "fork at the write": _fork_at_the_write,
}
"""What can be taken out, by name."""


def ablate() -> None:
    """Take out what the environment names, once."""
    for missing in filter(None, os.environ.pop(SWITCH, "").split(",")):
        ABLATIONS[missing]()
