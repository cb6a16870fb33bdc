"""`guard`: a guarded copy of a compiled graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from langgraph.pregel._read import PregelNode

from resumption.errors import UnsupportedSaver, UnusableSetting
from resumption.guard.claims.missing import own_tables
from resumption.guard.langgraph.calls import Fork
from resumption.guard.langgraph.graph import GuardedGraph, Settings
from resumption.guard.langgraph.loops import install
from resumption.guard.langgraph.savers import guarded_saver
from resumption.guard.langgraph.seams import check_seams
from resumption.guard.langgraph.validity import validated
from resumption.guard.settings import must_be_one_of, must_be_seconds, must_be_text

__all__ = ["afork", "fork", "guard"]

G = TypeVar("G", bound=Pregel[Any, Any, Any, Any])


def guard(
    graph: G,
    *,
    wait: float | None = None,
    on_conflict: Literal["join", "raise"] | None = None,
    store: str | None = None,
    typed_dicts: Literal["warn", "refuse"] | None = None,
) -> G:
    """Return a copy of a compiled graph, or of an entrypoint, that keeps the contract.

    It has the type and the methods of the graph, on the same connection. The graph itself isn't changed. One that is
    guarded already keeps its settings, but for those that are given here.

    Args:
        graph: what `StateGraph.compile`, `entrypoint` or `create_agent` returned. Without a checkpointer it is guarded
            on the one that it is given for a run, by the platform that serves it.
        wait: how many seconds a call waits for another that has its thread, before it raises `RunBusy`; 30 if it isn't
            given.
        on_conflict: what a second delivery of the same decision to the same interrupt does: "join", which it is if it
            isn't given, has it return the outcome of the first; "raise" refuses it with `AlreadyConsumed`. Another
            decision is always refused.
        store: for a checkpointer that the guard doesn't know, where its leases, claims and decisions are kept: the path
            of a SQLite file, `sqlite:///…` or `postgresql://…`. Less is kept than with one that it knows: see
            `docs/guard.md`. All who use the checkpointer's threads must name the same store.
        typed_dicts: what becomes of a value that a `TypedDict` as state schema excludes: "warn", which it is if it
            isn't given, logs it once for a channel; "refuse" raises `InvalidCheckpoint` before it is stored, as for a
            model or a dataclass. The state of `create_agent` is a `TypedDict`.

    Raises `UnsupportedSaver`, `UnsupportedRelease`, `LeaseImpossible`, `UnusableSetting`, and `LedgerUnavailable` for a
    `store` that can't be had.
    """
    if wait is not None:
        must_be_seconds("wait", wait)
    if on_conflict is not None:
        must_be_one_of("on_conflict", on_conflict, "join", "raise")
    if store is not None:
        must_be_text("store", store)
    if typed_dicts is not None:
        must_be_one_of("typed_dicts", typed_dicts, "warn", "refuse")
    if isinstance(graph, GuardedGraph):
        before = graph.guard_settings
        return _again(graph, before, before.but(wait, on_conflict, store, typed_dicts), graph.guard_unchecked)
    check_seams()
    if not hasattr(graph, "checkpointer"):  # a builder, or a function that makes a graph
        raise UnsupportedSaver(
            f"A {type(graph).__name__} is no compiled graph.",
            advice="Guard what it becomes: guard(builder.compile(checkpointer=saver)).",
        )
    if isinstance(graph.checkpointer, bool):
        raise UnsupportedSaver(
            f"{graph.get_name()} is made to be part of another graph, whose checkpointer it uses or does without.",
            advice="Guard the outermost graph: its subgraphs are guarded with it.",
        )
    settings = Settings().but(wait, on_conflict, store, typed_dicts)
    copy = _copied(graph, f"Guarded{type(graph).__name__}", (GuardedGraph, type(graph)), settings, graph.nodes)
    if graph.checkpointer is not None:
        with own_tables():
            copy.checkpointer = guarded_saver(graph.checkpointer, store)
    install()
    return copy


def _again(graph: G, before: Settings, settings: Settings, unchecked: Mapping[str, PregelNode]) -> G:
    """A guarded graph with other settings: itself, if none is given that it doesn't have."""
    if settings.store != before.store:
        raise UnusableSetting(
            f"{graph.get_name()} is guarded already, with store={before.store!r}, and can't have {settings.store!r}"
            " instead.",
            advice="Leave store away, or guard the graph that was guarded: two stores would lease its threads twice.",
        )
    return graph if settings == before else _copied(graph, type(graph).__name__, (type(graph),), settings, unchecked)


def _copied(
    graph: G, name: str, bases: tuple[type[Any], ...], settings: Settings, unchecked: Mapping[str, PregelNode]
) -> G:
    """A copy of the graph, of a class of its own, on which the settings are; with its nodes, checked as they say."""
    attributes = {"guard_settings": settings, "guard_unchecked": unchecked, "__module__": __name__}
    kind: type[G] = type(name, bases, attributes)
    copy = object.__new__(kind)
    copy.__dict__.update(graph.__dict__)
    copy.nodes = validated(graph, unchecked, typed_dicts=settings.refuse_typed_dicts)
    return copy


def fork(
    graph: Pregel[Any, Any, Any, Any],
    config: RunnableConfig,
    value: Any,
    *,
    interrupt: str | None = None,
    into: str | None = None,
    **options: Any,
) -> Any:
    """Give an interrupt a second decision, on a branch of its own, and run it; returns what `invoke` does.

    The first decision, its outcome and its effects stay as they are. The branch becomes the thread's newest.

    Args:
        graph: a guarded graph.
        config: the thread, and the `checkpoint_id` at which the interrupt was pending.
        value: the decision.
        interrupt: the interrupt's id; needed if several were raised at that checkpoint.
        into: a new thread for the branch, which begins as a copy of this one as it was while the interrupt waited. What
            was finished by then stays so in every shape of program: a functional one's tasks don't run again.
        options: as for `invoke`, `delivery_id` included.

    Raises `NothingToFork`, `UnknownAddress`, `AmbiguousAnswer`, `ThreadTaken`, and what `invoke` raises.
    """
    return _guarded(graph).invoke(Fork(value, interrupt, into), config, **options)


async def afork(
    graph: Pregel[Any, Any, Any, Any],
    config: RunnableConfig,
    value: Any,
    *,
    interrupt: str | None = None,
    into: str | None = None,
    **options: Any,
) -> Any:
    """As `fork`, on the event loop."""
    return await _guarded(graph).ainvoke(Fork(value, interrupt, into), config, **options)


def _guarded(graph: Pregel[Any, Any, Any, Any]) -> GuardedGraph:
    if isinstance(graph, GuardedGraph):
        return graph
    raise UnsupportedSaver(f"{graph.get_name()} isn't guarded.", advice="Fork what `guard` returned.")
