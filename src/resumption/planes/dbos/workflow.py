"""The adapter for DBOS workflows: each task of the workload is a step, and each interrupt a message received.

A gate runs in the workflow itself, because only a workflow can receive; each of its effects is a step of its own. The
run's process launches the executor with its first operation, not when it is opened: launching is recovering.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dbos import DBOS, DBOSClient, DBOSConfig, SetWorkflowID

from resumption.history.events import Json, Pending
from resumption.history.workload import Interrupt, Task, Workload, marker
from resumption.planes.dbos.progress import Progress
from resumption.planes.dbos.seam import RecordedDatabase, Seam, effect_step, last_record
from resumption.planes.forms import by_form
from resumption.planes.interface import (
    Address,
    Call,
    Completed,
    Decision,
    Failed,
    Handle,
    Instruments,
    Outcome,
    Parked,
    Snapshot,
    Store,
)
from resumption.planes.tasks import perform

__all__ = ["WorkflowRun", "open_run"]

_FILE = "dbos.sqlite"
_PENDING = "pending"
"""The event by which a workflow tells its clients for which decision it waits."""
_PUBLISHED = "DBOS.setEvent"
_RECEIVED = "DBOS.recv"
"""DBOS's names for the steps in which a workflow publishes an event, and receives a message."""
_A_YEAR = 365 * 24 * 3600.0
_POLLING_SECONDS = 0.1


def open_run(workload: Workload, store: Store, instruments: Instruments) -> WorkflowRun:
    """Open the workload's run in `store`, as a workflow; nothing is executed."""
    progress = Progress()
    RecordedDatabase.seam = Seam(workload, instruments, progress.waits)
    return WorkflowRun(workload, store, _program(workload, instruments, progress), progress)


# The program --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _InSteps:
    """The instruments of a gate: an effect is fired in a step, and everything else as it is."""

    instruments: Instruments

    def __getattr__(self, name: str) -> Any:
        return getattr(self.instruments, name)

    def fire(self, effect: str, *, task: str, value: Json) -> None:
        """Fire an effect in a step, which DBOS doesn't run again once it is on record."""
        options = {"name": effect_step(task, effect)}
        DBOS.run_step(options, self.instruments.fire, effect, task=task, value=value)


def _program(workload: Workload, instruments: Instruments, progress: Progress) -> Callable[[Json], Json]:
    def ask(question: Interrupt) -> Json:
        DBOS.set_event(_PENDING, question.name)
        value = DBOS.recv(question.name, timeout_seconds=_A_YEAR)
        progress.goes_on(DBOS.workflow_id)
        return value

    def run(task: Task, trail: Json) -> Any:
        if task.interrupts:
            return perform(task, trail, _InSteps(instruments), ask)
        return DBOS.run_step({"name": task.name}, perform, task, trail, instruments, ask)

    @DBOS.workflow(name="workload")  # type: ignore[untyped-decorator]  # not installed beside the harness
    def workflow(trail: Json) -> Json:
        progress.begins(DBOS.workflow_id)
        try:
            for task in workload.tasks:
                trail = trail + run(task, trail)
            return trail
        finally:
            progress.ends(DBOS.workflow_id)

    program: Callable[[Json], Json] = workflow
    return program


# The run ------------------------------------------------------------------------------------------------------------


class WorkflowRun:
    """A run that is one workflow of one system database on SQLite, with an executor in this process.

    Operations go through `DBOSClient`, as those of a web server do; only launching needs the executor itself.
    """

    def __init__(self, workload: Workload, store: Store, program: Callable[[Json], Json], progress: Progress) -> None:
        self._workload = workload
        self._url = f"sqlite:///{store.location / _FILE}"
        # DBOS computes the version of a program from its source, and this adapter's source is the same for all.
        self._version = hashlib.sha256(repr(workload).encode()).hexdigest()[:12]
        self._program = program
        self._progress = progress
        self._workflow = f"{store.thread}-1"
        self._opened: DBOSClient | None = None
        self._launched = False

    def start(self, value: Json) -> Handle:
        """Start the workflow under the run's id."""

        def start() -> Outcome:
            self._launch()
            with SetWorkflowID(self._workflow):
                DBOS.start_workflow(self._program, value["trail"])
            return self._settled(self._workflow)

        return Call(start)

    def deliver(self, decision: Decision) -> Handle:
        """Send a decision to the workflow that waits for it or, to fork, to a new one with its steps so far."""
        ways: dict[str, Callable[[], Outcome]] = {
            "send": lambda: self._send(decision),
            "send-key": lambda: self._send(decision, idempotency_key=decision.delivery),
            "fork": lambda: self._fork(decision),
        }
        return Call(by_form(ways, decision.form))

    def recover(self, form: str) -> Handle:
        """Launch an executor anew, which recovers what is pending; other forms go on where that ends in an error."""
        otherwise: dict[str, Callable[[], object] | None] = {
            "launch": None,
            "resume": lambda: self._client.resume_workflow(self._workflow),
            "fork-failed": lambda: self._go_on_in_a_fork(self._failed_step()),
        }
        go_on = by_form(otherwise, form)
        return Call(lambda: self._recover(go_on))

    def inspect(self) -> Snapshot:
        """Return what a client can list of the workflow: its status, its steps, and the event that it published."""
        status = self._client.retrieve_workflow(self._workflow).get_status()
        finished = status.status == "SUCCESS"
        steps = self._client.list_workflow_steps(self._workflow)
        trail = status.output if finished else _trail(self._workload, steps)
        return Snapshot(trail, self._pending(self._workflow), finished)

    def address(self) -> Address:
        """Return the id of the workflow for each pending interrupt, and the number of the step that will receive.

        That step comes next to the one in which the workflow published what it waits for.
        """
        pending = self._pending(self._workflow)
        steps = self._client.list_workflow_steps(self._workflow)
        published = [step["function_id"] for step in steps if step["function_name"] == _PUBLISHED]
        return Address(max(published, default=0) + 1, {asked.name: asked.identity for asked in pending})

    def close(self) -> None:
        """Shut the executor down, whatever its workflow is waiting for."""
        if self._launched:
            DBOS.destroy(destroy_registry=True)
        if self._opened:
            self._opened.destroy()

    # Forms

    def _send(self, decision: Decision, **options: str) -> Outcome:
        self._launch()
        workflow = decision.address.requests.get(decision.target, self._workflow)
        self._client.send(workflow, decision.value, decision.target, **options)
        return self._settled(workflow, decision.target)

    def _fork(self, decision: Decision) -> Outcome:
        self._launch()
        self._workflow = decision.address.requests[decision.target]
        self._go_on_in_a_fork(decision.address.checkpoint)
        self._client.send(self._workflow, decision.value, decision.target)
        return self._settled(self._workflow, decision.target)

    def _recover(self, otherwise: Callable[[], object] | None) -> Outcome:
        if self._launched:
            DBOS.destroy()
            self._launched = False
        self._launch()
        ended = self._settled(self._workflow)
        if otherwise is None or not isinstance(ended, Failed):
            return ended
        otherwise()
        return self._settled(self._workflow)

    def _go_on_in_a_fork(self, step: int) -> None:
        self._workflow = self._client.fork_workflow(self._workflow, step).get_workflow_id()

    def _failed_step(self) -> int:
        steps = self._client.list_workflow_steps(self._workflow)
        failed = [step["function_id"] for step in steps if step["error"] is not None]
        return min(failed, default=max((step["function_id"] for step in steps), default=0) + 1)

    # What it is made of

    @property
    def _client(self) -> DBOSClient:
        if self._opened is None:
            self._opened = DBOSClient(system_database_url=self._url)
        return self._opened

    def _launch(self) -> None:
        if self._launched:
            return
        config: dict[str, Any] = {
            "name": "resumption",
            "system_database_url": self._url,
            "application_version": self._version,
            "log_level": "ERROR",
            "notification_listener_polling_interval_sec": _POLLING_SECONDS,
        }
        if "run_admin_server" in DBOSConfig.__annotations__:  # before 3.0: a web server, on a port that is shared
            config["run_admin_server"] = False
        DBOS(config=config)
        DBOS.launch()
        self._launched = True

    def _settled(self, workflow: str, answered: str = "") -> Outcome:
        """Wait until a workflow has ended, or waits for another decision than the one just sent.

        A workflow of another program's version isn't run by this executor, and waits for one of its own. One that
        another executor has ended may still be run by this one, until that learns of it.
        """
        handle = self._client.retrieve_workflow(workflow)
        while True:
            waits = self._progress.is_waiting(workflow)
            status = handle.get_status()
            if self._progress.is_at_work(workflow):
                self._progress.wait()
                continue
            if status.status == "SUCCESS":
                return Completed(status.output)
            if status.status not in ("PENDING", "ENQUEUED"):
                return Failed(type(status.error).__name__, str(status.error))
            pending = self._pending(workflow)
            if status.app_version not in (None, self._version) or (waits and _asks_more(pending, answered)):
                return Parked(pending)
            self._progress.wait()

    def _pending(self, workflow: str) -> tuple[Pending, ...]:
        """The interrupt that the workflow published, unless it has received the answer."""
        received = sum(step["function_name"] == _RECEIVED for step in self._client.list_workflow_steps(workflow))
        name = self._client.get_event(workflow, _PENDING, timeout_seconds=0)
        is_next = name in _interrupts(self._workload)[received : received + 1]
        return (Pending(identity=workflow, name=name),) if is_next else ()


def _asks_more(pending: Sequence[Pending], answered: str) -> bool:
    return any(asked.name != answered for asked in pending)


def _interrupts(workload: Workload) -> list[str]:
    return [interrupt.name for task in workload.gates() for interrupt in task.interrupts]


def _trail(workload: Workload, steps: Sequence[Any]) -> Json:
    """The trail that the recorded steps make up: of a gate, once the last of its records is there."""
    outputs = {step["function_name"]: step["output"] for step in steps if step["error"] is None}
    answers = [step["output"] for step in steps if step["function_name"] == _RECEIVED]
    answered = dict(zip(_interrupts(workload), answers, strict=False))
    records = {*outputs, *(f"recv({name})" for name in answered)}
    trail: list[Json] = []
    for task in workload.tasks:
        if last_record(task) not in records:
            break
        if task.interrupts:
            trail.append(marker(task, tuple(answered[interrupt.name] for interrupt in task.interrupts)))
        else:
            trail += outputs[task.name]
    return trail
