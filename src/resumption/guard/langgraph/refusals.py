"""What a refused delivery is told: who was first, and what to do."""

from __future__ import annotations

import json
from collections.abc import Sequence

from resumption.decide.claim import Claim as Verdict
from resumption.errors import AlreadyConsumed, DecisionPending, GuardError, NotPending
from resumption.guard.claims.records import Claim
from resumption.guard.langgraph.binding import Bound
from resumption.guard.langgraph.calls import Call
from resumption.guard.langgraph.sight import Sight

__all__ = ["raise_refused"]

_SECOND = frozenset((Verdict.CLAIMED, Verdict.ALREADY_CONSUMED))
_SAME = frozenset((Verdict.JOINED, Verdict.REPEATED))


def raise_refused(call: Call, verdicts: Sequence[tuple[Bound, Verdict]], sight: Sight, *, join: bool) -> None:
    """Raise for the first answer that is refused. With `join`, a repetition of the same decision isn't."""
    for one, verdict in verdicts:
        error = _refusal(call, one, verdict, sight, join=join)
        if error is not None:
            raise error


def _refusal(call: Call, one: Bound, verdict: Verdict, sight: Sight, *, join: bool) -> GuardError | None:
    what = f"Interrupt {one.interrupt!r} of thread {call.thread!r}" if one.interrupt else f"Thread {call.thread!r}"
    recorded = sight.claims.get(one.key)
    if verdict in _SECOND or (verdict in _SAME and not join):
        return AlreadyConsumed(
            f"{what} was given {'the same' if verdict in _SAME else 'another'} decision {_first(recorded)}.",
            advice="Nothing ran. For a second outcome beside the first, call resumption.langgraph.fork.",
            branch=verdict.value,
            interrupt=one.interrupt,
        )
    if verdict is Verdict.PENDING:
        return DecisionPending(
            f"{what} was given another decision {_first(recorded)}, whose executor is gone.",
            advice="Recover it with invoke(None) on the thread, or call resumption.langgraph.fork for another outcome.",
            branch=verdict.value,
            interrupt=one.interrupt,
        )
    if verdict is Verdict.WITHDRAWN:
        return NotPending(
            f"{what} waits for no answer any more, though nobody answered it.",
            advice="Ask for the state: the run went on without it.",
            branch=verdict.value,
            interrupt=one.interrupt,
        )
    return None


def _first(claim: Claim | None) -> str:
    if claim is None:
        return "before"
    where = json.loads(claim.place)
    return f"at {claim.at} by process {where['pid']} on {where['host']} (digest {claim.digest[:12]})"
