"""Hand-made histories: each method says one thing that happened, so that a test reads as a protocol.

The program of most tests is `a` (fires `charge`), the gate `approve` (asks `ok?`, fires `pay`), and `c` (fires `ship`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from resumption.contract.judges import judge
from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Judgement
from resumption.history.events import (
    Consume,
    Deliver,
    EffectBegin,
    EffectEnd,
    Event,
    Exit,
    Inspect,
    Intent,
    Json,
    Oracle,
    Park,
    Pending,
    Persist,
    Phase,
    Raise,
    Recover,
    Return,
    Start,
    State,
    Tamper,
    TaskEnd,
    TaskStart,
)
from resumption.history.history import Header, History
from resumption.history.workload import Corrupt, Effect, Interrupt, Task, Workload, WriteFault, marker

GATED = Workload(
    (
        Task("a", (Effect("charge"),)),
        Task("approve", (Interrupt("ok?"), Effect("pay"))),
        Task("c", (Effect("ship"),)),
    )
)
TWO_QUESTIONS = Workload(
    (
        Task("a", (Effect("charge"),)),
        Task("approve", (Interrupt("q1"), Effect("hold"), Interrupt("q2"), Effect("pay"))),
        Task("c"),
    )
)
EARLY_EFFECT = Workload((Task("approve", (Effect("notify"), Interrupt("ok?"), Effect("pay"))),))
PLAIN = Workload((Task("a", (Effect("charge"),)), Task("b", (Effect("email"),)), Task("c", (Effect("ship"),))))
INVALID = Workload((Task("a"), Task("bad", (Corrupt(WriteFault.NULL_ITEM),))))


@dataclass(frozen=True)
class Served:
    """An operation under way: where its process goes on recording."""

    number: int
    process: int
    operation: int
    branch: str


class Protocol:
    """Records a history by hand. What a method appends belongs to the operation that was asked for last."""

    def __init__(self, workload: Workload = GATED) -> None:
        self.workload = workload
        self.events: list[Event] = []
        self.now = Served(0, 0, 0, "b0")
        self._fired: list[str] = []
        self._operations = 0
        self._forks = 0
        self._tally: dict[int, int] = {}

    # What is asked for

    def start(self, branch: str = "b0") -> Served:
        return self._ask(Start(process=0, value={}), branch)

    def deliver(
        self, value: Json, *, to: str = "ok?", intent: Intent = Intent.ANSWER, name: str = "", branch: str = "b0"
    ) -> Served:
        name = name or f"d{self._operations + 1}"
        asked = Deliver(process=0, intent=intent, form="bare", delivery=name, value=value, target=to)
        return self._ask(asked, branch)

    def fork(self, value: Json, *, to: str = "ok?") -> Served:
        self._forks += 1
        return self.deliver(value, to=to, intent=Intent.FORK, branch=f"b0.{self._forks}")

    def recover(self, branch: str = "b0", *, value: Json = None) -> Served:
        return self._ask(Recover(process=0, form="no-input", value=value), branch)

    def inspect(self, branch: str = "b0") -> Served:
        return self._ask(Inspect(process=0), branch)

    def on(self, served: Served) -> Protocol:
        """Go on with an operation that was asked for earlier."""
        self.now = served
        return self

    # What happens inside

    def begins(self, task: str, *, sees: Json) -> int:
        return self._add(TaskStart(process=0, task=task, trail=sees))

    def fires(
        self, effect: str, *, task: str = "", value: Json = None, fired: bool = True, returned: bool = True
    ) -> int:
        task = task or next(t.name for t in self.workload.tasks if Effect(effect) in t.effects)
        call = f"{effect}-{len(self.events)}"
        number = self._add(EffectBegin(process=0, call=call, effect=effect, task=task, value=value))
        if fired:
            self._fired.append(call)
        if fired and returned:
            process = self.now.process
            self._tally[process] = self._tally.get(process, 0) + 1
            self._add(EffectEnd(process=0, call=call, count=self._tally[process]))
        return number

    def consumes(self, value: Json, *, interrupt: str = "ok?") -> int:
        task = next(t.name for t in self.workload.tasks if Interrupt(interrupt) in t.interrupts)
        return self._add(Consume(process=0, task=task, interrupt=interrupt, value=value))

    def ends(self, task: str, *, write: Json) -> int:
        return self._add(TaskEnd(process=0, task=task, write=write))

    def stores(self, *tasks: str, phase: Phase = Phase.END) -> int:
        item = f"s{len(self.events)}"
        return self._add(Persist(process=0, phase=phase, item=item, name=f"put({','.join(tasks)})", covers=tasks))

    def runs(self, task: str, *, sees: Json, decisions: tuple[Json, ...] = ()) -> int:
        """A whole task, from its start to its durable record. Returns the number of the record."""
        self.begins(task, sees=sees)
        self.acts(task, decisions)
        self.ends(task, write=[marker(self.workload.task(task), decisions)])
        return self.stores(task)

    def acts(self, task: str, decisions: tuple[Json, ...]) -> None:
        """The steps of a task, up to the first interrupt that has no decision."""
        left = list(decisions)
        for step in self.workload.task(task).steps:
            if isinstance(step, Effect):
                self.fires(step.name, task=task)
            elif isinstance(step, Interrupt):
                if not left:
                    return
                self.consumes(left.pop(0), interrupt=step.name)

    # How it ends

    def parks(self, *names: str) -> int:
        return self._answer(
            Park(process=0, pending=tuple(Pending(identity=f"#{n}", name=n) for n in names or ("ok?",)))
        )

    def returns(self, *trail: Json) -> int:
        return self._answer(Return(process=0, trail=list(trail)))

    def raises(self, error: str = "ValueError") -> int:
        return self._answer(Raise(process=0, error=error, message="no"))

    def shows(self, *trail: Json, finished: bool = False) -> int:
        return self._answer(State(process=0, trail=list(trail), finished=finished))

    def dies(self) -> int:
        return self._exit(signal=9)

    def history(self, *, oracle: bool = True) -> History:
        """The history as a reader would give it; with `oracle=False`, cut before the effect record was read."""
        header = Header(probe="p", plane="hand", path="made", backend="none", form="no-input", workload=self.workload)
        events = [*self.events, Oracle(process=0, fired=tuple(self._fired))] if oracle else self.events
        return History(header, tuple(replace(event, number=number) for number, event in enumerate(events, 1)))

    # Common openings

    def to_the_gate(self) -> None:
        """`a` runs, and the run parks at the gate."""
        self.start()
        self.runs("a", sees=[])
        self.begins("approve", sees=["a"])
        self.parks()

    def to_the_end(self, value: Json = True) -> None:
        """The gate is answered, and the run finishes."""
        self.to_the_gate()
        self.deliver(value)
        self.passes_the_gate(value)

    def passes_the_gate(self, value: Json) -> None:
        """The gate receives `value`, and the rest of the run follows."""
        self.runs("approve", sees=["a"], decisions=(value,))
        self.runs("c", sees=["a", f"approve={value}"])
        self.returns("a", f"approve={value}", "c")

    def is_tampered_with(self) -> int:
        """A process that runs nothing makes the durable trail a number."""
        self.events.append(Tamper(process=0))
        return len(self.events)

    def _ask(self, event: Event, branch: str) -> Served:
        self._operations += 1
        self.now = Served(len(self.events) + 1, self._operations, self._operations, branch)
        self._add(event)
        return self.now

    def _answer(self, event: Event) -> int:
        number = self._add(event)
        self._exit(signal=0)
        return number

    def _exit(self, *, signal: int) -> int:
        self.events.append(Exit(process=0, who=self.now.process, code=0, signal=signal))
        return len(self.events)

    def _add(self, event: Event) -> int:
        now = self.now
        self.events.append(replace(event, process=now.process, operation=now.operation, branch=now.branch))
        return len(self.events)


def cell(protocol: Protocol, property_: Property, facet: Facet = Facet.CELL) -> Judgement:
    """What the judge of a property says of one facet."""
    (found,) = [judgement for judgement in judge(protocol.history(), property_) if judgement.facet is facet]
    return found


def story(judgement: Judgement) -> str:
    """The findings of a judgement, as a reader sees them."""
    return "\n".join(str(finding) for finding in judgement.findings)
