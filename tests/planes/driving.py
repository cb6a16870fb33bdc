"""How the tests of LangGraph's planes drive a run: park it, answer it, fail it."""

from __future__ import annotations

from typing import Any

from recording import RecordingInstruments

from resumption.history.events import Intent, Json
from resumption.history.workload import Effect, Interrupt, Task, Workload
from resumption.planes.interface import Address, Decision, Failed, OpenRun, Outcome, Parked, Run, Store

__all__ = ["APPROVAL", "TWO_QUESTIONS", "deliver", "fail_in_notify", "park"]

APPROVAL = Workload(
    (
        Task("draft", (Effect("write"),)),
        Task("approve", (Interrupt("sure?"), Effect("pay"))),
        Task("notify", (Effect("mail"),)),
    )
)
TWO_QUESTIONS = Workload((Task("ask", (Interrupt("first?"), Interrupt("second?"))), Task("after")))


def park(open_run: OpenRun, workload: Workload, store: Store, seen: RecordingInstruments) -> Run:
    """Open a run and start it, up to its first question."""
    run = open_run(workload, store, seen)
    assert isinstance(run.start({}).wait(), Parked)
    return run


def deliver(run: Run, value: Json, *, address: Address | None = None, **changes: Any) -> Outcome:
    """Answer the question of `APPROVAL`, bare, at the head, unless told otherwise."""
    settings = {"form": "bare", "target": "sure?", "intent": Intent.ANSWER, "delivery": "d1", **changes}
    return run.deliver(Decision(value=value, address=address or run.address(), **settings)).wait()


def fail_in_notify(open_run: OpenRun, store: Store, *, form: str = "bare") -> RecordingInstruments:
    """Answer the question, and fail in the task behind it, as if the mail server were down."""
    outage = RecordingInstruments(failing="mail")
    run = park(open_run, APPROVAL, store, outage)
    assert deliver(run, True, form=form) == Failed("ConnectionError", "mail is out of reach")
    run.close()
    return outage
