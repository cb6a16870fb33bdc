"""What CrewAI's adapters share: one run that is one flow, and every resume form as a user would call it."""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crewai.flow.async_feedback import HumanFeedbackPending
from crewai.flow.persistence import persist

from resumption.history.events import Json, Pending
from resumption.history.workload import Workload
from resumption.planes.crewai.flows import build
from resumption.planes.crewai.storage import (
    CHECKPOINTS,
    TABLES,
    CheckpointFiles,
    RecordedFiles,
    RecordedTables,
    Seam,
)
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
    PlaneSpec,
    Snapshot,
    Store,
)
from resumption.planes.tasks import marked

__all__ = ["FlowRun"]


class FlowRun:
    """A run of a flow under one id, on the tables of one file and, if asked for, checkpoints in one folder.

    Each operation runs in a context of its own, as each request of a server does: CrewAI keeps the flows that were
    made in a context for its checkpoints, and restores the first of them.
    """

    def __init__(
        self,
        spec: PlaneSpec,
        workload: Workload,
        store: Store,
        instruments: Instruments,
        *,
        persisted: bool = False,
        checkpointed: bool = False,
        beside: bool = False,
    ) -> None:
        """`persisted` decorates the flow with `@persist`; `checkpointed` gives each flow a `CheckpointConfig`.

        With `beside`, another flow object is made before each one that is to run.
        """
        # What CrewAI keeps besides, it keeps in the user's home unless told otherwise.
        os.environ["CREWAI_STORAGE_DIR"] = str(store.location)
        RecordedTables.seam = RecordedFiles.seam = Seam(workload, instruments)
        self._forms = {form.name for form in spec.forms}
        # A checkpoint has the paths in it, and what restores it opens them: only relative ones survive a copied store.
        os.chdir(store.location)
        self._tables = RecordedTables(TABLES)
        self._files = CheckpointFiles(Path(CHECKPOINTS))
        self._options = {"checkpoint": self._files.writing()} if checkpointed else {}
        program = build(workload, instruments)
        self._program = persist(self._tables)(program) if persisted else program
        self._beside = beside
        self._workload = workload
        self._id = f"{store.thread}-1"

    def start(self, value: Json) -> Handle:
        """Start the flow under the run's id."""
        return _operation(lambda: self._kickoff(self._flow(), {**value, "id": self._id}))

    def deliver(self, decision: Decision) -> Handle:
        """Hand a decision over, in one of the forms of delivering and of forking."""
        deliver = by_form(self._ways_to_deliver(), decision.form, self._forms)
        return _operation(lambda: deliver(decision))

    def recover(self, form: str) -> Handle:
        """Ask a crashed run to go on."""
        return _operation(by_form(self._ways_to_recover(), form, self._forms))

    def inspect(self) -> Snapshot:
        """Return the state and the question that are stored. CrewAI keeps no record of whether a flow is finished.

        It is taken to be if it asks nothing, and each task has its mark in the state.
        """
        state = self._files.state() if self._options else self._tables.load_state(self._id) or {}
        pending = self._pending()
        trail = state.get("trail", [])
        done = len(marked(self._workload, trail)) == len(self._workload.tasks)
        return Snapshot(trail, pending, not pending and done)

    def address(self) -> Address:
        """Return the newest checkpoint, if there are any, and the flow's id for the question that is pending."""
        return Address(self._files.latest(), {asked.name: asked.identity for asked in self._pending()})

    def close(self) -> None:
        """Nothing is held between operations."""

    # The forms: each is one to three calls, as a user of CrewAI makes them

    def _ways_to_deliver(self) -> dict[str, Callable[[Decision], Outcome]]:
        return {
            "resume": lambda decision: self._resume(decision.address.requests.get(decision.target, self._id), decision),
            "restore-state": lambda decision: self._answer(self._rerun_state(), decision),
            "fork": lambda decision: self._answer(self._fork(decision.address.checkpoint), decision),
        }

    def _ways_to_recover(self) -> dict[str, Callable[[], Outcome]]:
        return {
            "rekick": lambda: self._kickoff(self._flow(), {"id": self._id}),
            "restore-state": self._rerun_state,
            "from-checkpoint": self._restore,
        }

    def _resume(self, flow_id: str, decision: Decision) -> Outcome:
        flow = self._program.from_pending(flow_id, self._tables, **self._options)
        return _outcome(flow, flow.resume(decision.value))

    def _answer(self, asked: Outcome, decision: Decision) -> Outcome:
        """Answer the question that a fork, which runs its program again, has come to."""
        return self._resume(asked.pending[0].identity, decision) if isinstance(asked, Parked) else asked

    def _rerun_state(self) -> Outcome:
        flow = self._flow()
        return self._take_over(flow, flow.kickoff(restore_from_state_id=self._id))

    def _restore(self) -> Outcome:
        checkpoint = self._files.latest()
        if not checkpoint:  # nothing of the run was stored, so that its caller starts it again
            return self._kickoff(self._flow(), {"id": self._id})
        return self._go_on(self._program.from_checkpoint(self._files.reading(checkpoint)))

    def _fork(self, checkpoint: str) -> Outcome:
        return self._go_on(self._program.fork(self._files.reading(checkpoint)))

    def _go_on(self, flow: Any) -> Outcome:
        # A restored flow has neither: they are not in its checkpoint.
        flow.persistence = self._tables
        flow.checkpoint = self._options["checkpoint"]
        return self._take_over(flow, flow.kickoff())

    def _take_over(self, flow: Any, result: Any) -> Outcome:
        """Go on under the id that a fork gave to its flow."""
        self._id = flow.state.id
        return _outcome(flow, result)

    # What they are made of

    def _flow(self) -> Any:
        if self._beside:
            self._program()
        return self._program(persistence=self._tables, **self._options)

    def _kickoff(self, flow: Any, inputs: dict[str, Json]) -> Outcome:
        return _outcome(flow, flow.kickoff(inputs=inputs))

    def _pending(self) -> tuple[Pending, ...]:
        stored = self._tables.load_pending_feedback(self._id)
        return () if stored is None else (_asked(stored[1]),)


def _operation(call: Callable[[], Outcome]) -> Handle:
    def operate() -> Outcome:
        try:
            return contextvars.copy_context().run(call)
        except (Exception, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            # The serializer of a checkpoint panics if the flow changes its state meanwhile; CrewAI lets that through.
            return Failed(type(error).__name__, str(error))

    return Call(operate)


def _outcome(flow: Any, result: Any) -> Outcome:
    """How a flow's call ended: CrewAI returns the exception by which a flow has parked."""
    if isinstance(result, HumanFeedbackPending):
        return Parked((_asked(result.context),))
    trail = flow.state.trail
    return Completed(list(trail) if isinstance(trail, list) else trail)


def _asked(context: Any) -> Pending:
    return Pending(identity=context.flow_id, name=context.method_output)
