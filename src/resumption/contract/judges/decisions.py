"""Decisions at one interrupt, and whether each had its own outcome: what FD and FI both ask."""

from __future__ import annotations

from dataclasses import dataclass

from resumption.contract.judges.branches import Branch, branches
from resumption.contract.judges.operations import intent_of, outcome, same
from resumption.contract.judges.program import Firing, Position, interrupt_position, is_mark
from resumption.contract.judges.stories import finding, shown
from resumption.contract.verdicts import Finding
from resumption.history.events import Consume, Deliver, Exit, Intent, Json, Park, Raise, Recover, Return
from resumption.history.history import History
from resumption.history.workload import Effect, Interrupt, Task, marker

__all__ = ["Decided", "decided", "forked_interrupts"]


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision at an interrupt, and what became of it on its branch.

    Without witnesses it is open: its process died and nobody brought the run on, or it was lost in that death and
    another decision took its place.
    """

    delivery: Deliver
    witnesses: tuple[int, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class _Decision:
    """A decision in its surroundings: its branch, the gate, and the operations in which it is served."""

    history: History
    branch: Branch
    delivery: Deliver
    place: Position
    served: tuple[Deliver | Recover, ...]

    @property
    def task(self) -> Task:
        return self.history.workload.tasks[self.place[0]]

    @property
    def operations(self) -> frozenset[int]:
        return frozenset(resume.operation for resume in self.served)

    def consumed(self) -> list[Consume]:
        """What the gate received for this interrupt."""
        return [
            event
            for event in self.branch.of(Consume)
            if event.interrupt == self.delivery.target and event.operation in self.operations
        ]

    def caused(self) -> list[tuple[int, Effect]]:
        """The effects that depend on this decision, with their places: those up to the task's next interrupt."""
        effects = []
        for place, step in enumerate(self.task.steps):
            if place > self.place[1] and isinstance(step, Interrupt):
                break
            if place > self.place[1] and isinstance(step, Effect):
                effects.append((place, step))
        return effects

    def fires(self, place: int) -> list[Firing]:
        """The fires of the effect at one place of the task."""
        return [
            firing
            for firing in self.branch.firings
            if firing.step.position == (self.place[0], place) and firing.fire.operation in self.operations
        ]

    def settled(self) -> Return | Park | None:
        """The event by which the gate was passed: the run's end, or a park at another interrupt."""
        for resume in reversed(self.served):
            end = outcome(self.history, resume)
            if isinstance(end, Return):
                return end
            if isinstance(end, Park) and all(pending.name != self.delivery.target for pending in end.pending):
                return end
        return None

    def failed(self) -> Raise | Park | None:
        """The error, or the park at the same interrupt, at which the decision came to rest without passing the gate.

        A decision that was lost in a death, and that another one replaced, was not brought to any outcome.
        """
        ends = [outcome(self.history, resume) for resume in self.served]
        if any(isinstance(end, Exit) for end in ends) and self._is_replaced():
            return None
        return ends[-1] if isinstance(ends[-1], Raise | Park) else None

    def _is_replaced(self) -> bool:
        """Whether the branch went on with another decision at this interrupt."""
        return any(
            isinstance(resume, Deliver)
            and resume.number > self.served[-1].number
            and resume.target == self.delivery.target
            and resume.delivery != self.delivery.delivery
            and resume.intent is not Intent.STRAY
            for resume in self.branch.resumes()
        )


def forked_interrupts(history: History) -> tuple[str, ...]:
    """The interrupts of the program that got a decision with fork intent, in order."""
    forks = (delivery.target for delivery in history.of(Deliver) if delivery.intent is Intent.FORK)
    return tuple(target for target in dict.fromkeys(forks) if interrupt_position(history.workload, target))


def decided(history: History, interrupt: str) -> tuple[Decided, ...]:
    """The answers and forks that one interrupt got, each with what became of it."""
    place = interrupt_position(history.workload, interrupt)
    if place is None:
        return ()
    return tuple(
        _decided(_Decision(history, branch, resume, place, _served(branch, resume)))
        for branch in branches(history)
        for resume in branch.resumes()
        if isinstance(resume, Deliver) and resume.target == interrupt and resume.intent in {Intent.ANSWER, Intent.FORK}
    )


def _served(branch: Branch, delivery: Deliver) -> tuple[Deliver | Recover, ...]:
    """The operations in which a decision is served: its own and what follows, up to another decision in its place."""
    served: list[Deliver | Recover] = []
    for resume in branch.resumes():
        if resume.number < delivery.number or intent_of(resume) is Intent.STRAY:
            continue
        if isinstance(resume, Deliver) and resume.target == delivery.target and resume.delivery != delivery.delivery:
            break
        served.append(resume)
    return tuple(served)


def _decided(decision: _Decision) -> Decided:
    history, delivery = decision.history, decision.delivery
    consumed = decision.consumed()
    where = f"the decision {shown(delivery.value)} at interrupt `{delivery.target}` on branch {decision.branch.name}"
    wrong = next((consume for consume in consumed if not same(consume.value, delivery.value)), None)
    if wrong:
        summary = f"{where} was served {shown(wrong.value)} instead"
        return Decided(delivery, (delivery.number, wrong.number), (finding(history, summary, delivery, wrong),))
    if not consumed:
        end = outcome(history, delivery)
        if not isinstance(end, Raise | Return | Park):
            return Decided(delivery)
        summary = f"{where} was {'refused' if isinstance(end, Raise) else 'never consumed'}"
        return Decided(delivery, (delivery.number, end.number), (finding(history, summary, delivery, end),))
    settled = decision.settled()
    if settled is None:
        return _unsettled(decision, where)
    findings = _effects(decision, where, settled) + _trail(decision, where, settled)
    fires = [firing.fire.begin for place, _ in decision.caused() for firing in decision.fires(place)]
    witnesses = (delivery.number, consumed[-1].number, *fires, settled.number)
    return Decided(delivery, witnesses, tuple(findings))


def _unsettled(decision: _Decision, where: str) -> Decided:
    delivery, consumed, end = decision.delivery, decision.consumed(), decision.failed()
    if end is None:
        return Decided(delivery)
    how = "the operation raised" if isinstance(end, Raise) else "the run parked there again"
    summary = f"{where} was consumed, but never came to an outcome: {how}"
    told = (delivery.number, *(consume.number for consume in consumed), end.number)
    return Decided(delivery, told, (finding(decision.history, summary, *told),))


def _effects(decision: _Decision, where: str, settled: Return | Park) -> list[Finding]:
    """Each effect once. That a recovery fires one again is for EO: only the delivery's own operation counts here."""
    found = []
    for place, effect in decision.caused():
        fires = decision.fires(place)
        own = [f.fire.begin for f in fires if f.fire.operation == decision.delivery.operation]
        if not fires:
            summary = f"{where} was consumed, but its effect `{effect.name}` never fired"
            found.append(finding(decision.history, summary, decision.delivery, *decision.consumed(), settled))
        elif len(own) > 1:
            summary = f"{where} fired its effect `{effect.name}` {len(own)} times"
            found.append(finding(decision.history, summary, decision.delivery, *own))
    return found


def _trail(decision: _Decision, where: str, settled: Return | Park) -> list[Finding]:
    """The state that the run returned carries this decision."""
    received: dict[str, Json] = {event.interrupt: event.value for event in decision.branch.of(Consume)}
    received[decision.delivery.target] = decision.delivery.value
    names = [interrupt.name for interrupt in decision.task.interrupts]
    if not isinstance(settled, Return) or not all(name in received for name in names):
        return []
    mark = marker(decision.task, tuple(received[name] for name in names))
    marks = (
        [entry for entry in settled.trail if is_mark(entry, decision.task)] if isinstance(settled.trail, list) else []
    )
    if marks == [mark]:
        return []
    others = ", ".join(f"`{entry}`" for entry in marks)
    summary = f"{where} was consumed, but the run returned with {others}, not with `{mark}` alone"
    if mark not in marks:
        summary = f"{where} was consumed, but the run returned without `{mark}`"
    return [finding(decision.history, summary, decision.delivery, *decision.consumed(), settled)]
