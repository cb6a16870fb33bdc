"""Validity: the state that a task's writes lead to is checked against the graph's own schema, before it is stored.

The check is the last step of a node's writers, where the reducers can be applied: a schema says what a channel *holds*,
not what is written to it. Pydantic models and dataclasses are enforced. A `TypedDict` is an annotation that running
code often doesn't keep to (an optional field that isn't declared so), so there a breach is logged, once for a channel.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, Required, get_args, get_origin, get_type_hints

from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.channels.base import BaseChannel
from langgraph.pregel import Pregel
from pydantic import BaseModel, PydanticSchemaGenerationError, TypeAdapter, ValidationError

from resumption.errors import InvalidCheckpoint

__all__ = ["validated"]

logger = logging.getLogger("resumption")

_CONTROL = frozenset(("__error__", "__error_source_node__", "__interrupt__", "__resume__"))


@dataclasses.dataclass(slots=True)
class _Rule:
    """What one channel may hold."""

    adapter: TypeAdapter[Any]
    enforced: bool
    warned: bool = False


def validated(graph: Pregel[Any, Any, Any, Any]) -> dict[str, Any]:
    """The graph's nodes, each with a last step that refuses what breaks the schema."""
    rules = _rules(graph)
    if not rules:
        return graph.nodes
    return {
        name: node.copy({"writers": [*node.writers, _check(name, rules)]}) if node.writers else node
        for name, node in graph.nodes.items()
    }


def _rules(graph: Pregel[Any, Any, Any, Any]) -> dict[str, _Rule]:
    """The rules of the channels that a graph builder declares; an entrypoint declares none."""
    builder = getattr(graph, "builder", None)
    rules: dict[str, _Rule] = {}
    for schema in getattr(builder, "schemas", {}):
        enforced = dataclasses.is_dataclass(schema) or (isinstance(schema, type) and issubclass(schema, BaseModel))
        for channel, annotation in _annotations(schema).items():
            known = rules.get(channel)
            if isinstance(graph.channels.get(channel), BaseChannel) and (known is None or enforced > known.enforced):
                adapter = _adapter(annotation)
                if adapter is not None:
                    rules[channel] = _Rule(adapter, enforced)
    return rules


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
    return get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint


def _adapter(annotation: Any) -> TypeAdapter[Any] | None:
    try:
        return TypeAdapter(annotation, config={"arbitrary_types_allowed": True})
    except PydanticSchemaGenerationError:
        return None
    except TypeError:
        pass  # a type with a configuration of its own takes no other
    return TypeAdapter(annotation)


def _check(node: str, rules: Mapping[str, _Rule]) -> RunnableCallable:
    def check(value: Any, config: RunnableConfig) -> Any:
        writes = getattr(config["configurable"]["__pregel_send"], "__self__", None)
        written = {channel for channel, _ in writes} if writes is not None else set(rules)
        channels = [channel for channel in rules if channel in written]
        if channels:
            state = config["configurable"]["__pregel_read"](channels, True)
            for channel in channels:
                if channel in state:
                    _hold(node, channel, state[channel], rules[channel], writes)
        return value

    async def acheck(value: Any, config: RunnableConfig) -> Any:
        return check(value, config)

    return RunnableCallable(check, acheck, name="resumption_validity", trace=False, recurse=False)


def _hold(node: str, channel: str, value: Any, rule: _Rule, writes: Any) -> None:
    try:
        rule.adapter.validate_python(value)
    except ValidationError as error:
        reason = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:3])
        if not rule.enforced:
            if not rule.warned:
                rule.warned = True
                logger.warning(
                    "node %s left channel %s with a value that its annotation excludes: %s", node, channel, reason
                )
            return
        if writes is not None:
            # LangGraph stores a failed task's writes beside its error, and would take the task for finished.
            kept = [write for write in writes if write[0] in _CONTROL]
            writes.clear()
            writes.extend(kept)
        raise InvalidCheckpoint(
            f"Node {node!r} leaves channel {channel!r} with a value that the schema excludes: {reason}.",
            advice="Nothing was stored. Correct the node, and recover with invoke(None).",
        ) from error
