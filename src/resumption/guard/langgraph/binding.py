"""Which interrupt an answer is for: found on arrival, before the lease is waited for, and kept.

Finding it later would let an answer that waited behind another take whatever was asked next.
"""

from __future__ import annotations

from dataclasses import dataclass

from resumption.decide.claim import Binding, binding
from resumption.errors import AmbiguousAnswer, NotPending, UnknownAddress
from resumption.guard.langgraph.calls import Answer, Call
from resumption.guard.langgraph.sight import Sight

__all__ = ["ANYBODY", "Bound", "bind"]

ANYBODY = "@/"
"""How the key begins of an answer that is given before anything was asked: at a breakpoint, say, or after an update.
Its checkpoint follows. Whoever asks first gets it."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An answer and the interrupt that it is for."""

    answer: Answer
    key: str
    interrupt: str


def bind(call: Call, sight: Sight, *, superseded: bool, busy: bool, finished: bool, rests: bool) -> tuple[Bound, ...]:
    """Find the interrupt of each answer; none at all if the call names a checkpoint where nothing was answered.

    Args:
        call: the call that brings the answers.
        sight: what was durable when it arrived.
        superseded: whether it names a checkpoint that is not the newest.
        busy: whether another executor had the thread when it arrived.
        finished: whether the thread has nothing left to run. Matters only if nothing is asked.
        rests: whether the run may stand where nobody asked anything, at a breakpoint or behind an update. Otherwise it
            was cut off, and what comes is a second answer to the last question. Matters only if nothing is asked.

    Raises `AmbiguousAnswer`, `NotPending`, `UnknownAddress`.
    """
    if call.answers[0].interrupt is not None:
        return tuple(_named(answer, sight) for answer in call.answers)
    (answer,) = call.answers
    if superseded:
        if len(sight.addressed) > 1:
            raise _ambiguous(len(sight.addressed))
        return tuple(Bound(answer, claim.key, claim.interrupt) for claim in sight.addressed)
    outcome = binding(named=False, known=False, pending=len(sight.questions), at_breakpoint=not (busy or finished))
    if outcome is Binding.SOLE:
        (question,) = sight.questions
        return (Bound(answer, sight.key_of(question), question.identity),)
    if outcome is Binding.AMBIGUOUS:
        raise _ambiguous(len(sight.questions))
    last = sight.last
    again = last is not None and (last.root == sight.superstep.head or last.digest == answer.digest)
    if last is not None and (busy or finished or again or not rests):
        return (Bound(answer, last.key, last.interrupt),)
    if outcome is Binding.NOTHING_PENDING:
        raise NotPending(
            f"Nothing on thread {call.thread!r} waits for an answer: the run is finished, under way, or never started.",
            advice="Ask for its state, or start it with an input.",
            branch=outcome.value,
        )
    return (Bound(answer, f"{ANYBODY}{sight.superstep.head}", ""),)


def _named(answer: Answer, sight: Sight) -> Bound:
    identity = answer.interrupt or ""
    asked = next((question for question in sight.questions if question.identity == identity), None)
    claimed = sight.named.get(identity)
    outcome = binding(
        named=True,
        known=asked is not None or claimed is not None,
        pending=len(sight.questions),
        at_breakpoint=False,
    )
    if outcome is Binding.UNKNOWN:
        raise UnknownAddress(
            f"No interrupt {identity!r} was raised on this thread.",
            advice="Ask for the state: its interrupts carry the ids that can be answered.",
            branch=outcome.value,
        )
    key = sight.key_of(asked) if asked is not None else claimed.key if claimed is not None else ""
    return Bound(answer, key, identity)


def _ambiguous(pending: int) -> AmbiguousAnswer:
    return AmbiguousAnswer(
        f"The answer names no interrupt, and {pending} could take it.",
        advice="Resume with a map from interrupt ids to values.",
        branch=Binding.AMBIGUOUS.value,
    )
