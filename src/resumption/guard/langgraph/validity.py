"""Validity: the state that a task's writes lead to is checked against the graph's own schema, before it is stored.

The check is a step among a node's writers, where the reducers can be applied: a schema says what a channel *holds*, not
what is written to it. It stands before conditional edges, which read that state and may fail on it: LangGraph would
store the writes with their error. What a node sends, and what several nodes of one superstep make of a channel, is
checked behind all writers.

Pydantic models and dataclasses are enforced. A `TypedDict` is an annotation that running code often doesn't keep to (an
optional field that isn't declared so), so there a breach is logged, once for a channel, unless the program wants it
refused. What a node is sent is held to models only: of a `TypedDict`, programs send parts or what the node will coerce,
and LangGraph runs the node on it.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from functools import partial
from itertools import takewhile
from typing import Annotated, Any, NotRequired, Required, get_args, get_origin, get_type_hints

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph._internal._constants import TASKS
from langgraph.channels.base import BaseChannel
from langgraph.pregel import Pregel
from langgraph.pregel._read import PregelNode
from langgraph.pregel._write import ChannelWrite
from pydantic import BaseModel, PydanticSchemaGenerationError, TypeAdapter, ValidationError
from typing_extensions import ReadOnly

from resumption.errors import InvalidCheckpoint
from resumption.guard.langgraph.joint import superstep

__all__ = ["breaches", "validated"]

logger = logging.getLogger("resumption")

_Check = Callable[[RunnableConfig], None]

_CONTROL = frozenset(("__error__", "__error_source_node__", "__interrupt__", "__resume__"))


@dataclasses.dataclass(slots=True)
class _Rule:
    """What one channel may hold."""

    adapter: TypeAdapter[Any]
    enforced: bool
    warned: bool = False


def validated(
    graph: Pregel[Any, Any, Any, Any], nodes: Mapping[str, PregelNode], *, typed_dicts: bool
) -> dict[str, PregelNode]:
    """These nodes of the graph, each with steps that refuse what breaks the schema; those of subgraphs too.

    With `typed_dicts`, a `TypedDict` is such a schema too. A subgraph is found where it is a node itself. One that a
    node's code calls is not looked into.
    """
    rules, receivers = _rules(graph, typed_dicts=typed_dicts), _receivers(graph)
    return {name: _validated_node(name, node, rules, receivers, typed_dicts) for name, node in nodes.items()}


def breaches(graph: Pregel[Any, Any, Any, Any], values: Mapping[str, Any]) -> list[str]:
    """What in a state that was stored breaks the schema that the graph enforces, a sentence for each channel."""
    found = []
    for channel, rule in _rules(graph, typed_dicts=False).items():
        if rule.enforced and channel in values and (reason := _fault(rule.adapter, values[channel])):
            found.append(f"channel {channel!r} holds what the schema excludes: {reason}")
    return found


def _validated_node(
    name: str,
    node: PregelNode,
    rules: dict[str, _Rule],
    receivers: Mapping[str, TypeAdapter[Any]],
    typed_dicts: bool,
) -> PregelNode:
    changes: dict[str, Any] = {}
    if (rules or receivers) and node.writers:
        changes["writers"] = _checked(node.writers, _check_state(name, rules), _check_step(name, rules, receivers))
    if isinstance(node.bound, Pregel):
        inner = object.__new__(type(node.bound))
        inner.__dict__.update(node.bound.__dict__)
        inner.nodes = validated(node.bound, node.bound.nodes, typed_dicts=typed_dicts)
        changes.update(bound=inner, subgraphs=[inner])
    return node.copy(changes) if changes else node


def _checked(writers: list[Runnable[Any, Any]], state: _Check, step: _Check) -> list[Runnable[Any, Any]]:
    """The writers, with the check of the state ahead of the first that reads it, and of the step behind them all."""
    ahead = sum(1 for _ in takewhile(lambda writer: isinstance(writer, ChannelWrite), writers))
    # LangGraph makes one of writes that follow one another too, where they come last.
    writing = [write for writer in writers[:ahead] if isinstance(writer, ChannelWrite) for write in writer.writes]
    rest = writers[ahead:]
    if not rest:
        return [_CheckedWrite(writing, state, step)]
    return [_CheckedWrite(writing, state), *rest, _CheckedWrite((), step)]


class _CheckedWrite(ChannelWrite):
    """A write that is checked once it is made. A step of its own for the check would cost more than the check."""

    def __init__(self, writes: Iterable[Any], *checks: _Check) -> None:
        super().__init__(list(writes))
        self._checks = checks

    def _write(self, input: Any, config: RunnableConfig) -> Any:
        super()._write(input, config)
        for check in self._checks:
            check(config)
        return input

    async def _awrite(self, input: Any, config: RunnableConfig) -> Any:
        return self._write(input, config)


def _rules(graph: Pregel[Any, Any, Any, Any], *, typed_dicts: bool) -> dict[str, _Rule]:
    """The rules of the channels that a graph builder declares, a model's before others; an entrypoint declares none."""
    builder = getattr(graph, "builder", None)
    rules: dict[str, _Rule] = {}
    for schema in sorted(getattr(builder, "schemas", {}), key=_is_model, reverse=True):
        for channel, annotation in _annotations(schema).items():
            if isinstance(graph.channels.get(channel), BaseChannel) and channel not in rules:
                adapter = _adapter(annotation)
                if adapter is not None:
                    rules[channel] = _Rule(adapter, enforced=typed_dicts or _is_model(schema))
    return rules


def _receivers(graph: Pregel[Any, Any, Any, Any]) -> dict[str, TypeAdapter[Any]]:
    """What a node may be sent, for those whose input schema is a model."""
    nodes = getattr(getattr(graph, "builder", None), "nodes", {})
    schemas = {name: node.input_schema for name, node in nodes.items()}
    return {name: TypeAdapter(schema) for name, schema in schemas.items() if _is_model(schema)}


def _is_model(schema: Any) -> bool:
    return dataclasses.is_dataclass(schema) or (isinstance(schema, type) and issubclass(schema, BaseModel))


def _annotations(schema: Any) -> dict[str, Any]:
    try:
        hints = get_type_hints(schema, include_extras=True)
    except (NameError, TypeError):
        return {}  # it names types that can't be found, or is no class: LangGraph knows its channels by other means
    fields: Mapping[str, Any] = getattr(schema, "model_fields", {})
    for name, field in fields.items():
        if field.metadata:
            hints[name] = Annotated[(field.annotation, *field.metadata)]
    return {name: _bare(hint) for name, hint in hints.items()}


def _bare(hint: Any) -> Any:
    """A field's type without what says how its key stands in the dictionary, also where that is inside `Annotated`."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Required, NotRequired, ReadOnly):
        return _bare(inner[0])
    return Annotated[(_bare(inner[0]), *inner[1:])] if origin is Annotated else hint


def _adapter(annotation: Any) -> TypeAdapter[Any] | None:
    try:
        return TypeAdapter(annotation, config={"arbitrary_types_allowed": True})
    except PydanticSchemaGenerationError:
        return None
    except TypeError:
        pass  # a type with a configuration of its own takes no other
    return TypeAdapter(annotation)


def _check_state(node: str, rules: Mapping[str, _Rule]) -> _Check:
    """Refuse what the node's own writes make of the state."""

    def check(config: RunnableConfig) -> None:
        writes = _writes(config)
        written = {channel for channel, _ in writes} & rules.keys() if writes is not None else rules.keys()
        for channel, reason in _breaches(config, written, rules):
            if rules[channel].enforced:
                _clear(writes)
                raise InvalidCheckpoint(
                    f"Node {node!r} leaves channel {channel!r} with a value that the schema excludes: {reason}.",
                    advice="Nothing of it was stored. Correct the node, and recover with invoke(None).",
                )
            _warn(node, channel, rules[channel], reason)

    return check


def _check_step(node: str, rules: Mapping[str, _Rule], receivers: Mapping[str, TypeAdapter[Any]]) -> _Check:
    """Refuse what the node sends, and what it makes of the state along with others of its superstep."""

    def check(config: RunnableConfig) -> None:
        writes = _writes(config)
        for target, reason in _missent(writes or (), receivers):
            _clear(writes)
            raise InvalidCheckpoint(
                f"Node {node!r} sends {target!r} what its input schema excludes: {reason}.",
                advice="Nothing of it was stored. Correct the node, and recover with invoke(None).",
            )
        found = superstep()
        if found is not None and writes is not None:
            together, task = found
            with together.finishing(task, writes) as held:
                for channel, reason in _held_breaches(held, rules):
                    if rules[channel].enforced:
                        _clear(writes)
                        raise InvalidCheckpoint(
                            f"Node {node!r} and others of its superstep leave channel {channel!r} with a value that the"
                            f" schema excludes: {reason}.",
                            advice="Of this node nothing was stored. Correct it, and recover with invoke(None).",
                        )
                    _warn(node, channel, rules[channel], reason)

    return check


def _writes(config: RunnableConfig) -> Any:
    """What the task has written so far; None where LangGraph collects it in no list."""
    return getattr(config["configurable"]["__pregel_send"], "__self__", None)


def _warn(node: str, channel: str, rule: _Rule, reason: str) -> None:
    if not rule.warned:
        rule.warned = True
        logger.warning("node %s left %s with a value that its annotation excludes: %s", node, channel, reason)


def _held_breaches(held: Mapping[str, Any], rules: Mapping[str, _Rule]) -> Iterator[tuple[str, str]]:
    """The channels among these that hold what their rules exclude, and what is wrong."""
    for channel in held.keys() & rules.keys():
        value = held[channel]
        if isinstance(value, Exception):
            yield channel, f"its reducer raised {type(value).__name__}: {value}"
        elif reason := _fault(rules[channel].adapter, value):
            yield channel, reason


def _missent(writes: Iterable[tuple[str, Any]], receivers: Mapping[str, TypeAdapter[Any]]) -> Iterator[tuple[str, str]]:
    """The nodes that are sent what they can't take: LangGraph would store it, and fail for good when it runs them."""
    for channel, value in list(writes):
        if channel == TASKS and value.node in receivers and isinstance(value.arg, Mapping):
            reason = _fault(receivers[value.node], value.arg)
            if reason:
                yield value.node, reason


def _breaches(config: RunnableConfig, channels: Set[str], rules: Mapping[str, _Rule]) -> Iterator[tuple[str, str]]:
    """The channels that the task's writes leave in an invalid state, and what is wrong."""
    try:
        state = _state(config, channels) if channels else {}
    except Exception as error:  # the program's reducer met a value that it wasn't made for
        for channel in channels:
            try:
                _state(config, [channel])
            except Exception:
                yield channel, f"its reducer raised {type(error).__name__}: {error}"
        return
    yield from _held_breaches(state, rules)


def _state(config: RunnableConfig, channels: Collection[str]) -> Mapping[str, Any]:
    """What these channels hold with the task's writes, as LangGraph reads it, which would copy every channel for it."""
    read: partial[dict[str, Any]] = config["configurable"]["__pregel_read"]
    scratchpad, every, managed, task = read.args
    return read.func(scratchpad, {name: every[name] for name in channels}, managed, task, list(channels), True)


def _fault(adapter: TypeAdapter[Any], value: Any) -> str:
    """What is wrong with a value; nothing, if nothing is."""
    try:
        adapter.validate_python(value)
    except ValidationError as error:
        return "; ".join(
            ": ".join([*filter(None, [".".join(map(str, one["loc"]))]), one["msg"]]) for one in error.errors()[:3]
        )
    except Exception as error:  # a schema has code of its own, which can meet a value that it wasn't made for
        return f"its validation raised {type(error).__name__}: {error}"
    return ""


def _clear(writes: Any) -> None:
    """LangGraph stores a failed task's writes beside its error, and would take the task for finished."""
    if writes is not None:
        kept = [write for write in writes if write[0] in _CONTROL]
        writes.clear()
        writes.extend(kept)
