"""What a history shows of a drilled program: its effects and its last state, comparable between runs.

Identities that differ from run to run (UUIDs, LangGraph's hashes, addresses in memory) are the same for a comparison.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from resumption.contract.judges.branches import MAIN
from resumption.history.events import Json, State
from resumption.history.history import Fire, History

__all__ = ["Effect", "Observed", "comparable", "effect_of", "observe"]

_IDENTITY = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|(?<= at )0x[0-9a-f]+")


@dataclass(frozen=True, slots=True, order=True)
class Effect:
    """One call of an effect, as far as two runs can be compared by it."""

    name: str
    task: str
    arguments: str
    """As JSON text."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What one branch of a run came to."""

    effects: Counter[Effect]
    values: Json
    """The last state that an inspection showed; None without any."""
    finished: bool
    invalid: tuple[str, ...]
    """What in the last state breaks the program's own schema."""
    state: State | None


def comparable(value: Json) -> str:
    """A JSON value as text in which no identity is told from another."""
    return _IDENTITY.sub("<id>", json.dumps(value, sort_keys=True, ensure_ascii=False))


def effect_of(fire: Fire) -> Effect:
    """The effect that fired."""
    return Effect(fire.effect, fire.task, comparable(fire.value["arguments"]))


def observe(history: History, keys: Mapping[str, str], *, branch: str = MAIN, after: int = 0) -> Observed:
    """What happened on a branch, from operation `after` on.

    `keys` names, for effects whose provider deduplicates, the argument with the idempotency key: calls with one key
    are one effect.
    """
    fires = [fire for fire in history.fires() if fire.branch == branch and fire.operation >= after]
    states = [state for state in history.of(State) if state.branch == branch]
    last = states[-1] if states else None
    return Observed(
        effects=Counter(effect_of(fire) for fire in _deduplicated(fires, keys)),
        values=last.trail["values"] if last else None,
        finished=bool(last and last.finished),
        invalid=tuple(last.trail["invalid"]) if last else (),
        state=last,
    )


def _deduplicated(fires: Iterable[Fire], keys: Mapping[str, str]) -> Iterable[Fire]:
    seen: set[tuple[str, str]] = set()
    for fire in fires:
        said = fire.value["arguments"].get(keys[fire.effect]) if fire.effect in keys else None
        if said is not None:  # no provider takes calls without a key for one another
            key = (fire.effect, json.dumps(said))
            if key in seen:
                continue
            seen.add(key)
        yield fire
