"""The graph layer: a subclass, by mixin, of whatever class the compiled graph has.

`stream` and `astream` are the only two ways into LangGraph's loop, so what is decided here holds for `invoke`, `batch`
and the rest too. Reading the state decides nothing and takes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph import errors
from langgraph._internal._config import ensure_config
from langgraph._internal._constants import CONFIG_KEY_CHECKPOINTER
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from langgraph.pregel._read import PregelNode
from langgraph.types import StateSnapshot

from resumption.errors import UnsupportedSaver
from resumption.guard.claims import protocol
from resumption.guard.claims.missing import own_tables
from resumption.guard.claims.records import DELIVERIES
from resumption.guard.langgraph.admission import admit, held
from resumption.guard.langgraph.calls import DELIVERY_ID, Call, read_call, thread_of
from resumption.guard.langgraph.house import House, Replay, Run
from resumption.guard.langgraph.outcome import Outcome, chunks, outcome_of
from resumption.guard.langgraph.savers import GuardedSaver, guarded_saver
from resumption.guard.langgraph.sight import Topology
from resumption.guard.langgraph.steps import Course, Inspect, Write, aperform, perform
from resumption.guard.langgraph.tenure import KEY, Tenure, acting, tenure_of
from resumption.guard.stores.protocol import Work

__all__ = ["GuardedGraph", "Settings"]

logger = logging.getLogger("resumption")

T = TypeVar("T")

COPY = "__copy__"
"""LangGraph's word, as `as_node` of `update_state`, for a copy of a checkpoint."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a guarded class was made with. On the class, since LangGraph copies a graph from its own attributes."""

    wait: float = 30.0
    join: bool = True
    store: str | None = None
    refuse_typed_dicts: bool = False

    def but(self, wait: float | None, on_conflict: str | None, store: str | None, typed_dicts: str | None) -> Settings:
        """The same, but for what is given."""
        return Settings(
            self.wait if wait is None else wait,
            self.join if on_conflict is None else on_conflict == "join",
            self.store if store is None else store,
            self.refuse_typed_dicts if typed_dicts is None else typed_dicts == "refuse",
        )


class GuardedGraph(Pregel[Any, Any, Any, Any]):
    """A compiled graph whose calls are admitted one after another, each decision once."""

    guard_settings: Settings
    guard_unchecked: Mapping[str, PregelNode]
    """Its nodes without the checks of their results, which other settings would change."""

    def stream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Iterator[Any]:
        """As the graph's own, under the thread's lease. `delivery_id` names the delivery."""
        delivery = options.pop(DELIVERY_ID, None)
        ground = self._ground(config, options)
        if ground is None:
            yield from super().stream(input, config, **options)
            return
        with own_tables():
            ground.saver.guard_ready()
        call = read_call(input, ground.config, delivery, ground.saver.serde)
        admitted = perform(admit(call, ground.house), ground)
        if isinstance(admitted, Replay):
            outcome = perform(_replayed(admitted, call, ground), ground)
            yield from chunks(outcome, options, self.stream_channels_asis, self.stream_mode)
            return
        try:
            yield from super().stream(admitted.payload, _carrying(admitted.call.config, admitted.tenure), **options)
            if call.delivery:
                perform(_concluding(admitted, ground), ground)
        except Exception as error:
            if _refused_by_interrupt(error):
                perform(_withdrawn(admitted), ground)
            raise
        finally:
            admitted.tenure.end()

    async def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> AsyncIterator[Any]:
        """As the graph's own, under the thread's lease. `delivery_id` names the delivery."""
        delivery = options.pop(DELIVERY_ID, None)
        ground = self._ground(config, options)
        if ground is None:
            async for chunk in super().astream(input, config, **options):
                yield chunk
            return
        with own_tables():
            await ground.saver.guard_aready()
        call = read_call(input, ground.config, delivery, ground.saver.serde)
        admitted = await aperform(admit(call, ground.house), ground)
        if isinstance(admitted, Replay):
            outcome = await aperform(_replayed(admitted, call, ground), ground)
            for chunk in chunks(outcome, options, self.stream_channels_asis, self.stream_mode):
                yield chunk
            return
        try:
            async for chunk in super().astream(
                admitted.payload, _carrying(admitted.call.config, admitted.tenure), **options
            ):
                yield chunk
            if call.delivery:
                await aperform(_concluding(admitted, ground), ground)
        except Exception as error:
            if _refused_by_interrupt(error):
                await aperform(_withdrawn(admitted), ground)
            raise
        finally:
            admitted.tenure.end()

    def bulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        """As the graph's own, under the thread's lease."""
        ground = self._ground(config, {})
        if ground is None:
            return super().bulk_update_state(config, supersteps)
        with own_tables():
            ground.saver.guard_ready()
        tenure = perform(held(thread_of(ground.config), ground.house), ground)
        try:
            with acting(tenure):
                return super().bulk_update_state(config, supersteps)
        finally:
            tenure.end()

    async def abulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        """As the graph's own, under the thread's lease."""
        ground = self._ground(config, {})
        if ground is None:
            return await super().abulk_update_state(config, supersteps)
        with own_tables():
            await ground.saver.guard_aready()
        tenure = await aperform(held(thread_of(ground.config), ground.house), ground)
        try:
            with acting(tenure):
                return await super().abulk_update_state(config, supersteps)
        finally:
            tenure.end()

    def _ground(self, config: RunnableConfig | None, options: Mapping[str, Any]) -> _Ground | None:
        """What a call is admitted on; None for a call that is part of a run which was admitted before."""
        merged = ensure_config(self.config, config)
        configurable = merged["configurable"]
        if "thread_id" not in configurable or tenure_of(merged) is not None:
            return None
        if "__pregel_task_id" in configurable and not isinstance(configurable.get(KEY), Tenure):
            logger.warning("%s runs inside a graph that isn't guarded, on its saver: guard that one", self.get_name())
            return None
        saver, given = self._saver(configurable)
        before = options.get("interrupt_before") or self.interrupt_before_nodes
        after = options.get("interrupt_after") or self.interrupt_after_nodes
        return _Ground(self, saver, {**merged, "configurable": given}, breaks=bool(before or after))

    def _saver(self, configurable: Mapping[str, Any]) -> tuple[GuardedSaver, dict[str, Any]]:
        """A run's saver, guarded, and its settings with that. A platform gives one to a graph that has none."""
        saver = configurable.get(CONFIG_KEY_CHECKPOINTER, self.checkpointer)
        if isinstance(saver, GuardedSaver):
            return saver, dict(configurable)
        if not isinstance(saver, BaseCheckpointSaver):
            raise UnsupportedSaver(
                f"{self.get_name()} has no checkpointer: nothing of the run would be durable.",
                advice="Compile it with one, or run it where the platform gives it one.",
            )
        guarded = guarded_saver(saver, self.guard_settings.store)
        return guarded, {**configurable, CONFIG_KEY_CHECKPOINTER: guarded}


class _Ground:
    """What the steps of an admission are taken on."""

    def __init__(self, graph: GuardedGraph, saver: GuardedSaver, config: RunnableConfig, *, breaks: bool) -> None:
        settings = graph.guard_settings
        self.graph = graph
        self.saver = saver
        self.config = config
        self.house = House(saver, Topology(graph), settings.wait, settings.join, breaks)

    def read(self, make: Callable[[], Work[T]]) -> T:
        """Take a `Read`."""
        with own_tables():
            return self.saver.guard_read(make)

    def write(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Take a `Write`."""
        with own_tables():
            return self.saver.guard_write(tenure, make)

    def inspect(self, config: RunnableConfig) -> StateSnapshot:
        """Take an `Inspect`."""
        return self.graph.get_state(config)

    def copy(self, tenure: Tenure, config: RunnableConfig) -> RunnableConfig:
        """Take a `Copy`."""
        with acting(tenure):
            return Pregel.update_state(self.graph, config, None, as_node=COPY)

    async def aread(self, make: Callable[[], Work[T]]) -> T:
        """Take a `Read` on the event loop."""
        with own_tables():
            return await self.saver.guard_aread(make)

    async def awrite(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Take a `Write` on the event loop."""
        with own_tables():
            return await self.saver.guard_awrite(tenure, make)

    async def ainspect(self, config: RunnableConfig) -> StateSnapshot:
        """Take an `Inspect` on the event loop."""
        return await self.graph.aget_state(config)

    async def acopy(self, tenure: Tenure, config: RunnableConfig) -> RunnableConfig:
        """Take a `Copy` on the event loop."""
        with acting(tenure):
            return await Pregel.aupdate_state(self.graph, config, None, as_node=COPY)


def _carrying(config: RunnableConfig, tenure: Tenure) -> RunnableConfig:
    return {**config, "configurable": {**config["configurable"], KEY: tenure}}


def _replayed(replay: Replay, call: Call, ground: _Ground) -> Course[Outcome]:
    if replay.outcome is not None:
        with DELIVERIES.reading("outcome", call.thread):
            return Outcome.unpack(ground.saver.serde.loads_typed(replay.outcome))
    snapshot = yield Inspect(call.config)
    return outcome_of(snapshot)


def _concluding(run: Run, ground: _Ground) -> Course[None]:
    """Record what a delivery came to. A run that failed doesn't get here, so that it can be delivered again."""
    call = run.call
    snapshot = yield Inspect(call.newest)
    packed = ground.saver.serde.dumps_typed(outcome_of(snapshot).pack())
    sql = ground.saver.guard_sql
    yield Write(run.tenure, lambda: protocol.concluding(sql, call.thread, call.delivery, *packed))


def _refused_by_interrupt(error: Exception) -> bool:
    """Whether an interrupt's response schema refused its decision; releases before 1.2.10 have none."""
    judge = getattr(errors, "is_invalid_resume", None)
    return judge is not None and bool(judge(error))


def _withdrawn(run: Run) -> Course[None]:
    if run.withdraw is not None:
        yield Write(run.tenure, run.withdraw)
