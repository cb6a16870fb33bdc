"""Two recoveries of one crashed run at the same time, as where two workers take it up.

No timing decides here. The first recovery is held at the start of a task; the second is asked for then, from another
process, and gets as far as the plane lets it; only then the first goes on, with what it had read before. One thing is
told by time alone: that a second one which waits does so until the run's end, and not until it parks. Where a lease
keeps the two apart, it may be lost while its holder lives: that is done to the first before the second is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

from resumption.contract.properties import Property
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import probe
from resumption.harness.probes.workloads import GATE_AHEAD, LEASED, UNGATED
from resumption.harness.process import Died, Process
from resumption.harness.trials import Trial
from resumption.history.events import Consume, Intent
from resumption.planes.interface import Address, Capability, Failed, Operation, Outcome, Parked
from resumption.worker.faults import Fault
from resumption.worker.points import task_start

__all__ = ["PROBES"]

_HELD = "b"
_GATE = "approve"
_PARKED_SECONDS = 10.0  # far more than a recovery needs that may go on
_LEASED_PROPERTIES = (
    Property.EFFECT_EXACTLY_ONCE,
    Property.CONSUME_ONCE_COUNT,
    Property.CONSUME_ONCE_EFFECTS,
    Property.LIVENESS,
)
_NEEDS = (Capability.PROCESS_DEATH, Capability.RECOVERY, Capability.CONCURRENT_RUNS)


@dataclass(slots=True)
class _Pair:
    """Two recoveries of one crashed run."""

    trial: Trial
    held: Process
    rival: Process
    stopped: bool = False
    """Whether the first is stopped as a whole while the second is at work."""
    lost: bool = False
    """Whether the first has lost its lease, so that there is nothing for the second to wait for."""
    gate: Address | None = None
    """Where the gate was pending when it was answered."""

    def lose(self) -> None:
        """Take from the first, which is held, the lease that it has."""
        self.trial.lose_leases()
        self.lost = True

    def run(self) -> None:
        """Let the second recovery get as far as it can, then the first, and bring the run to its end.

        A second one that waits may go on when the first parks. It comes to rest before anything is answered, or the
        answer would race with it; unless it waits for the run's end, as on DBOS.
        """
        if self.stopped:
            self.held.stop()
        early = self.rival.recover() if self.lost else self.rival.recover_beside()
        end = self._complete(self.rival, early) if early else None
        if self.stopped:
            self.held.go_on()
        self.held.release()
        late = self.held.outcome()
        rested = early or self.rival.outcome_within(_PARKED_SECONDS)
        if end is None or isinstance(end, Failed):  # the second waits or was refused, so that the first is to end
            self._complete(self.held, late)
        if rested is None:
            self.rival.outcome()

    def _complete(self, process: Process, outcome: Outcome | Died) -> Outcome | Died:
        if isinstance(outcome, Parked):
            self.gate = process.address()
        return self.trial.complete(process, outcome)

    def contradict(self) -> None:
        """Deliver another decision where the gate is pending now or, if it isn't, where it was pending before.

        A gate that took the decision that a recovery had brought was never pending: the run is addressed then.
        """
        now = self.rival.address()
        taken = any(consume.interrupt == _GATE for consume in self.trial.so_far().of(Consume))
        if self.gate is not None or taken:
            at = now if _GATE in now.requests or self.gate is None else self.gate
            self.rival.answer("no", target=_GATE, at=at, intent=Intent.STRAY)


def _pair(trial: Trial, *, stopped: bool = False) -> _Pair | None:
    """Crash a run, and hold its recovery; None if that one never comes to the task where it is to be held."""
    first = trial.process(Fault(task_start(_HELD)))
    first.start()
    held, rival = trial.process(), trial.process()
    return _Pair(trial, held, rival, stopped) if held.recover_and_pause(during=_HELD) else None


@probe(
    "recovery/race",
    expectation="one recovery executes; the other waits or is refused, and each effect fires once",
    source="arXiv 2608.03836, property EO; LangGraph 1.2, measured here",
    decides=(Property.EFFECT_EXACTLY_ONCE, Property.LIVENESS),
    operation=Operation.RECOVER,
    needs=_NEEDS,
)
def race(lab: Lab) -> None:
    """Kill the process at the start of a task, recover, hold that recovery at the start of the task, and recover from
    another process at the same time. The first goes on once the second has ended, was refused, or waits."""
    with lab.trial(UNGATED) as trial:
        if pair := _pair(trial):
            pair.run()


@probe(
    "recovery/overtaken",
    expectation="what an overtaken recovery still writes changes nothing: the finished run takes no other decision",
    source="arXiv 2608.03836, property CO; LangGraph 1.2, measured here",
    decides=(Property.CONSUME_ONCE_COUNT, Property.CONSUME_ONCE_EFFECTS),
    operation=Operation.RECOVER,
    needs=(*_NEEDS, Capability.GATE),
)
def overtaken(lab: Lab) -> None:
    """As recovery/race, with a gate ahead. Where the second recovery gets through, the gate is answered and the run
    ends while the first is held. Once the first has gone on as well, deliver another decision, without fork intent."""
    with lab.trial(GATE_AHEAD) as trial:
        if pair := _pair(trial):
            pair.run()
            pair.contradict()


def _lose(lab: Lab, *, stopped: bool) -> None:
    with lab.trial(LEASED) as trial:
        if pair := _pair(trial, stopped=stopped):
            pair.lose()
            pair.run()
            pair.contradict()


_LOST = "nothing of the executor that lost its lease is stored, and its gate's decision stays the only one"
_LOSS = "arXiv 2608.03836, properties EO and CO; LangGraph #7417"


@probe(
    "recovery/lease-lost",
    expectation=_LOST,
    source=_LOSS,
    decides=_LEASED_PROPERTIES,
    operation=Operation.RECOVER,
    needs=(*_NEEDS, Capability.GATE, Capability.LEASE_LOSS),
)
def lease_lost(lab: Lab) -> None:
    """Kill the process at the start of a task, recover, hold that recovery at the start of the task, and take its lease
    from it. Recover from another process, answer the gate, and let that one end the run. Then the first goes on; and at
    last deliver another decision, without fork intent."""
    _lose(lab, stopped=False)


@probe(
    "recovery/lease-lost-while-stopped",
    expectation=_LOST,
    source=_LOSS,
    decides=_LEASED_PROPERTIES,
    operation=Operation.RECOVER,
    needs=(*_NEEDS, Capability.GATE, Capability.LEASE_LOSS),
)
def lease_lost_while_stopped(lab: Lab) -> None:
    """As recovery/lease-lost, with the first executor stopped (SIGSTOP) as a whole while the second is at work."""
    _lose(lab, stopped=True)


PROBES = (race, overtaken, lease_lost, lease_lost_while_stopped)
