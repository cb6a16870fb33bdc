"""Kill points, enumerated from a history without faults: no probe lists them by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from resumption.history.events import EffectBegin, EffectEnd, Event, Persist, Phase, TaskStart
from resumption.history.history import History
from resumption.worker.faults import Fault, Mode

__all__ = ["kill_points"]


def kill_points(history: History) -> tuple[Fault, ...]:
    """Every point that the first process of `history` passed, in order, as a fault that kills there.

    A point that is passed more than once counts once for each passing.
    """
    passed: Counter[str] = Counter()
    faults = []
    for event in history.events:
        if event.process != 1:
            continue
        for point in _points(event, history):
            passed[point] += 1
            faults.append(Fault(point, Mode.KILL, passed[point]))
    return tuple(faults)


def _points(event: Event, history: History) -> Iterator[str]:
    match event:
        case TaskStart(task=task):
            yield f"task:{task}:start"
        case EffectBegin(effect=effect):
            yield f"effect:{effect}:before"
        case EffectEnd(call=call):
            effect = next(begin.effect for begin in history.of(EffectBegin) if begin.call == call)
            yield f"effect:{effect}:after"
        case Persist(phase=Phase.BEGIN, name=name):
            yield f"persist:{name}:before"
        case Persist(phase=Phase.END, name=name):
            yield f"persist:{name}:after"
        case _:
            return
