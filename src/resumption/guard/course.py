"""The course of one call of an effect: begin, run, commit; serve; or refuse.

Written once, as a generator of steps, for blocking and asynchronous callers. The order is the whole point: the record
says "running" durably before the function is called, and whatever the end of the call was is written down before the
caller learns of it. What may happen is never decided here but in `resumption.decide.admit`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from resumption.decide import admit as decide
from resumption.errors import LedgerError, LedgerUnavailable, RowUnreadable, Superseded, Unrecorded, UnsupportedEffect
from resumption.guard import telemetry
from resumption.guard.attempts import Attempt, making, refuse_reentry
from resumption.guard.codec import Unserialisable, encode
from resumption.guard.names import printable
from resumption.guard.refusals import refusal, served
from resumption.guard.steps import Consult, Course, Invoke, Pause
from resumption.guard.stores.protocol import Opening, Settlement, Wanted
from resumption.guard.stores.records import Record, fresh_token
from resumption.guard.stores.session import backoff
from resumption.guard.verification import Fired, NotFired, Unknown

if TYPE_CHECKING:
    from resumption.guard.ledger import Ledger

__all__ = ["Call", "course", "encoded", "way_out"]

logger = logging.getLogger("resumption")

_LONGEST_PAUSE = 0.1


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an effect, with its arguments bound."""

    key: str
    arguments: str
    on_doubt: str
    idempotent: bool
    not_fired: tuple[type[Exception], ...]
    invoke: Callable[[], Any]
    verify: Callable[[], Any] | None
    must_hold: Callable[[], None]
    """Raises if the executor that makes the call has lost its lease: then it must not begin."""


def course(ledger: Ledger, call: Call) -> Course[object]:
    """Fire once, serve the record, or refuse."""
    refuse_reentry(call.key)
    wanted: Wanted = yield Consult(partial(ledger.want, call.key, call.arguments, call.on_doubt, call.idempotent))
    try:
        opened = yield from _admitted(ledger, wanted)
        match opened.decision:
            case decide.FIRE:
                return (yield from _fired(ledger, call, wanted, opened.record))
            case decide.ASK:
                return (yield from _asked(ledger, call, wanted, opened.record))
            case decide.SERVE:
                return served(opened.record)
        raise refusal(opened, ledger.address)
    finally:
        ledger.landed(wanted)


def _admitted(ledger: Ledger, wanted: Wanted) -> Course[Opening]:
    """Ask until the answer is something else than WAIT, or the patience is over."""
    give_up = time.monotonic() + ledger.wait
    pauses = backoff(_LONGEST_PAUSE)
    while True:
        try:
            opened: Opening = yield Consult(partial(ledger.begin, wanted))
        except GeneratorExit:
            raise  # see _left
        except BaseException as error:
            reachable = not isinstance(error, LedgerUnavailable)
            yield Consult(partial(ledger.abandon, wanted, reachable=reachable))
            raise
        if opened.decision != decide.WAIT:
            break
        if time.monotonic() >= give_up:
            yield Consult(partial(ledger.refuse, wanted.key, opened.decision))
            break
        yield Pause(next(pauses))
    telemetry.decided("admit", wanted.key, opened.decision)
    return opened


def _fired(ledger: Ledger, call: Call, wanted: Wanted, record: Record) -> Course[object]:
    """Call the function and write down how that ended."""
    try:
        # After the record says "running": between this and the call there is nothing left to wait for.
        yield Consult(call.must_hold)
    except BaseException as error:
        yield from _left(ledger, wanted, decide.NOT_STARTED, error)
        raise
    step = Invoke(call.invoke)
    try:
        with making(Attempt(call.key, record.generation)), telemetry.span(call.key, record.attempt):
            value = yield step
    except BaseException as error:
        ended = way_out(error, step, call.not_fired)
        yield from _left(ledger, wanted, ended, error)
        raise
    return (yield from _committed(ledger, wanted, value))


def _asked(ledger: Ledger, call: Call, wanted: Wanted, record: Record) -> Course[object]:
    """Let `verify` ask the outside world, with the record claimed so that nobody else asks or fires meanwhile."""
    assert call.verify is not None  # admit answers ASK only to a call with on_doubt="verify"
    try:
        with making(Attempt(call.key, record.generation)):
            answer = yield Invoke(call.verify)
    except BaseException as error:
        # Asking fires nothing: the record goes back to what it was before the claim.
        yield from _left(ledger, wanted, decide.NOT_STARTED, error)
        raise
    word = {Fired: decide.FIRED, NotFired: decide.NOT_FIRED}.get(type(answer), decide.UNKNOWN)
    decision = decide.verified(word)
    telemetry.decided("verified", call.key, decision)
    if decision == decide.DONE:
        return (yield from _committed(ledger, wanted, answer.result))
    if decision == decide.FIRE:
        return (yield from _fired(ledger, call, wanted, record))
    refused: LedgerError = refusal(Opening(decide.IN_DOUBT_ENDED, record), ledger.address)
    if not isinstance(answer, Unknown):
        refused = UnsupportedEffect(
            f"verify of {call.key!r} answered {answer!r}.", advice="Answer Fired(result), NotFired() or Unknown()."
        )
    yield from _left(ledger, wanted, decide.NOT_STARTED, refused)
    yield Consult(partial(ledger.refuse, call.key, decide.IN_DOUBT_ENDED))
    raise refused


def _committed(ledger: Ledger, wanted: Wanted, value: object) -> Course[object]:
    """Write down that the effect fired, with its result."""
    result, note = encoded(wanted.key, value, ledger.max_result_bytes)
    settlement = _settlement(wanted, decide.RETURNED, result, note)
    try:
        state = yield Consult(partial(ledger.settle, settlement))
    except (LedgerUnavailable, RowUnreadable) as error:
        raise Unrecorded(
            f"The effect {wanted.key!r} fired, but that could not be recorded yet.",
            advice="Use the result of this error; this process records it at the ledger's next use. Don't fire again.",
            key=wanted.key,
            result=value,
        ) from error
    if state == decide.SUPERSEDED:
        raise Superseded(
            f"The effect {wanted.key!r} fired, but its record was settled by somebody else meanwhile.",
            advice="Compare this error's result with the record (`resumption ledger show`), which stands.",
            key=wanted.key,
            branch=state,
            result=value,
        )
    return value


def _left(ledger: Ledger, wanted: Wanted, ended: str, error: BaseException) -> Course[None]:
    """Write down an end without a result. `error` is on its way to the caller and says so if that fails.

    A course that is destroyed with its event loop can't take another step: `Ledger.landed` sees to its record.
    """
    if isinstance(error, GeneratorExit):
        return
    note = f"{type(error).__qualname__}: {error}"[:300]
    try:
        yield Consult(partial(ledger.settle, _settlement(wanted, ended, None, note)))
    except (LedgerUnavailable, RowUnreadable) as reason:
        error.add_note(f"The ledger could not record this end of {wanted.key!r} yet: {reason}")


def _settlement(wanted: Wanted, ended: str, result: str | None, note: str | None) -> Settlement:
    told = None if note is None else printable(note)  # it may have the message of an error of the program's
    return Settlement(wanted.key, wanted.version, wanted.owner.token, ended, fresh_token(), result, told)


def way_out(error: BaseException, step: Invoke, not_fired: tuple[type[Exception], ...]) -> str:
    """How an attempt ended that raised. Not an `Exception` (an interrupt, a cancellation): it was left, not ended."""
    if not step.started:
        return decide.NOT_STARTED
    if isinstance(error, not_fired):
        return decide.NOT_FIRED
    return decide.RAISED if isinstance(error, Exception) else decide.LEFT


def encoded(key: str, value: object, limit: int) -> tuple[str | None, str | None]:
    """The result as text for the record, or None and why; a result that can't be kept is said loudly."""
    try:
        text = encode(value)
        reason = f"its result takes {len(text)} bytes, more than {limit}" if len(text) > limit else None
    except Unserialisable as error:
        text, reason = "", f"its result can't be kept: {error}"
    if reason is None:
        return text, None
    logger.warning("effect %s is committed, but %s; later calls get ResultAbsent", key, reason)
    return None, reason
