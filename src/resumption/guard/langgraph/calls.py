"""What a caller asks of a graph, read from the arguments of `invoke` and its kin."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.types import Command

from resumption.errors import EmptyAnswer, UnstorableValue, UnusableName
from resumption.guard.codec import Unserialisable, encode
from resumption.guard.names import unstorable

__all__ = ["DELIVERY_ID", "Answer", "Call", "Fork", "Intent", "fingerprint", "packed", "read_call", "thread_of"]

DELIVERY_ID = "delivery_id"
"""The argument of a call, or the key of its config, that names a delivery."""

_ADDRESS = ("checkpoint_id", "checkpoint_map")
_HEX = frozenset("0123456789abcdef")


class Intent(Enum):
    """What a call wants."""

    START = auto()
    """Run on a new input."""
    RESUME = auto()
    """Run on an answer."""
    RECOVER = auto()
    """Go on from what is durable."""
    FORK = auto()
    """Run on a second answer, beside the first."""


@dataclass(frozen=True, slots=True)
class Fork:
    """What `fork` hands to a guarded graph in place of an input."""

    value: Any
    interrupt: str | None
    into: str | None = None
    """The thread that is to have the branch; None for the thread itself."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One decision. `interrupt` is the id that it names; None if it names none."""

    interrupt: str | None
    value: Any
    digest: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a graph, before anything was read or locked."""

    thread: str
    intent: Intent
    payload: Any
    """The input as it was given."""
    answers: tuple[Answer, ...]
    checkpoint: str
    """The checkpoint that it names; empty if it names none."""
    delivery: str
    digest: str
    """What tells this delivery's payload from another; empty without a delivery id."""
    config: RunnableConfig
    """The caller's config without address and delivery id."""

    def onto(self, thread: str) -> Call:
        """The call, on another thread."""
        config = {**self.config, "configurable": {**self.config["configurable"], "thread_id": thread}}
        return dataclasses.replace(self, thread=thread, config=config)  # type: ignore[arg-type]  # a config

    @property
    def newest(self) -> RunnableConfig:
        """The config that shows the thread's newest state, wherever in it the call runs."""
        kept = {k: v for k, v in self.config["configurable"].items() if k not in ("checkpoint_ns", *_ADDRESS)}
        return {**self.config, "configurable": kept}

    @property
    def remainder(self) -> Any:
        """What LangGraph has left to do when the answers are in their tasks' slots."""
        if isinstance(self.payload, Command) and (self.payload.update or self.payload.goto):
            return dataclasses.replace(self.payload, resume=None)
        return None


def read_call(payload: Any, config: RunnableConfig, delivery: str | None, serde: SerializerProtocol) -> Call:
    """Read a call on the thread that its config names. Raises `EmptyAnswer`, `UnstorableValue` and `UnusableName`."""
    configurable = dict(config.get("configurable") or {})
    checkpoint = configurable.get("checkpoint_id") or ""
    named = delivery or configurable.pop(DELIVERY_ID, None) or ""
    for key in _ADDRESS:
        configurable.pop(key, None)
    thread = thread_of(config)
    _must_be_storable("delivery id", named)
    _must_be_storable("checkpoint id", checkpoint)
    if isinstance(payload, Fork):
        _must_be_storable("interrupt", payload.interrupt or "")
        _must_be_storable("thread id", payload.into or "")
    answers = _answers(payload, serde)
    if isinstance(payload, Fork):
        intent = Intent.FORK
    elif answers:
        intent = Intent.RESUME
    elif payload is None or isinstance(payload, Command):
        intent = Intent.RECOVER
    else:
        intent = Intent.START
    return Call(
        thread=thread,
        intent=intent,
        payload=payload,
        answers=answers,
        checkpoint=str(checkpoint),
        delivery=str(named),
        digest=_payload_digest(payload, answers, str(checkpoint), serde) if named else "",
        config={**config, "configurable": configurable},
    )


def thread_of(config: RunnableConfig) -> str:
    """The thread that a config names. Raises `UnusableName` if no store can hold its name."""
    thread = str(config["configurable"]["thread_id"])
    _must_be_storable("thread id", thread)
    return thread


def _must_be_storable(what: str, name: object) -> None:
    reason = unstorable(str(name))
    if reason is not None:
        raise UnusableName(
            f"The {what} {str(name)[:40]!r} can't be stored: it {reason}.",
            advice="Nothing ran. Name it by valid Unicode without NUL; hash what is long.",
        )


def fingerprint(value: Any, serde: SerializerProtocol) -> str:
    """A digest by which two values are compared: of their JSON form, or where there is none, of what is stored."""
    try:
        # Whoever sends a mapping doesn't choose the order of its keys.
        text = json.dumps(json.loads(encode(value)), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()
    except Unserialisable:
        kind, blob = packed(value, serde)
        return hashlib.sha256(kind.encode() + b"\0" + blob).hexdigest()


def packed(value: Any, serde: SerializerProtocol) -> tuple[str, bytes]:
    """What a caller sent, as it is stored. Raises `UnstorableValue`."""
    try:
        return serde.dumps_typed(value)
    except Exception as error:  # of whatever serializer the program has chosen
        raise UnstorableValue(
            f"The checkpointer's serializer can't store a {type(value).__qualname__}: {type(error).__name__}: {error}.",
            advice="Nothing was recorded. Send JSON types, or give the checkpointer a serializer that knows the type.",
        ) from error


def _answers(payload: Any, serde: SerializerProtocol) -> tuple[Answer, ...]:
    if isinstance(payload, Fork):
        packed(payload.value, serde)  # before the branch is begun that it is for
        return (Answer(payload.interrupt, payload.value, fingerprint(payload.value, serde)),)
    if not isinstance(payload, Command):
        return ()
    if payload.resume is None:
        if not (payload.update or payload.goto):  # LangGraph can't take that for a decision
            raise EmptyAnswer("The command's answer is None.", advice="Give a value, or a map from interrupt ids.")
        return ()
    resume = payload.resume
    if resume == {} and isinstance(resume, Mapping):
        raise EmptyAnswer("The resume map names no interrupt.", advice="Give a value, or a map from interrupt ids.")
    if isinstance(resume, Mapping) and all(_names_interrupt(key) for key in resume):
        return tuple(Answer(key, value, fingerprint(value, serde)) for key, value in resume.items())
    return (Answer(None, resume, fingerprint(resume, serde)),)


def _names_interrupt(key: object) -> bool:
    """Whether LangGraph takes a key for the id of an interrupt."""
    return isinstance(key, str) and len(key) == 32 and _HEX.issuperset(key)


def _payload_digest(payload: Any, answers: tuple[Answer, ...], checkpoint: str, serde: SerializerProtocol) -> str:
    """What a delivery asks for. A fork asks for more than an answer of the same value: where, and onto which thread."""
    given = sorted((answer.interrupt or "", answer.digest) for answer in answers)
    if isinstance(payload, Fork):
        return fingerprint(["fork", given, checkpoint, payload.into], serde)
    return fingerprint(given or payload, serde)
