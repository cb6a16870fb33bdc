"""Where things are in the program: the order of its steps, and which step a fired effect is.

Two fires are one effect fired twice if they are the same *effect step*: same task, same effect. The effects of one task
have different names (a history of any other program is not judged): counting which of two equal ones fired fails where
a plane serves the first from its record. Values don't identify an effect, since a wrong decision changes the value.
"""

from __future__ import annotations

from dataclasses import dataclass

from resumption.history.events import Json
from resumption.history.history import Fire, History
from resumption.history.workload import Effect, Task, Workload

__all__ = [
    "EffectStep",
    "Firing",
    "Position",
    "after_everything",
    "before_everything",
    "firings",
    "interrupt_position",
    "is_complete",
    "is_mark",
    "is_valid",
    "missing_tasks",
    "strangers",
    "task_end",
    "task_start",
]

Position = tuple[int, int]
"""Place in the program: index of the task, then index of the step in it."""


@dataclass(frozen=True, slots=True)
class EffectStep:
    """One effect step of the program."""

    task: str
    effect: str
    position: Position


@dataclass(frozen=True, slots=True)
class Firing:
    """An effect that fired, and the step of the program that it was."""

    fire: Fire
    step: EffectStep


def firings(history: History) -> tuple[Firing, ...]:
    """Every effect that fired, in the order in which they began."""
    return tuple(Firing(fire, _effect_step(history.workload, fire)) for fire in history.fires())


def _effect_step(workload: Workload, fire: Fire) -> EffectStep:
    place = workload.task(fire.task).steps.index(Effect(fire.effect))
    return EffectStep(fire.task, fire.effect, (workload.index(fire.task), place))


def task_start(workload: Workload, task: str) -> Position:
    """The place before the first step of a task."""
    return workload.index(task), -1


def task_end(workload: Workload, task: str) -> Position:
    """The place behind the last step of a task."""
    return workload.index(task), len(workload.task(task).steps)


def before_everything() -> Position:
    """The place before the first task."""
    return 0, -1


def after_everything(workload: Workload) -> Position:
    """The place behind the last task."""
    return len(workload.tasks), 0


def interrupt_position(workload: Workload, name: str) -> Position | None:
    """The place of an interrupt; None if the program has no such interrupt, as a stray's address may have none."""
    for index, task in enumerate(workload.tasks):
        for place, step in enumerate(task.steps):
            if step in task.interrupts and step.name == name:
                return index, place
    return None


def is_valid(trail: Json) -> bool:
    """Whether a state satisfies the schema of every workload: its trail is a list of strings."""
    return isinstance(trail, list) and all(isinstance(entry, str) for entry in trail)


def missing_tasks(workload: Workload, trail: Json) -> tuple[str, ...]:
    """The tasks whose mark the trail lacks."""
    entries = trail if isinstance(trail, list) else []
    return tuple(task.name for task in workload.tasks if not any(is_mark(entry, task) for entry in entries))


def is_complete(workload: Workload, trail: Json) -> bool:
    """Whether every task of the program left its mark on the trail."""
    return not missing_tasks(workload, trail)


def strangers(workload: Workload, trail: Json) -> tuple[str, ...]:
    """The texts on a trail that no task of the program writes."""
    entries = trail if isinstance(trail, list) else []
    texts = (entry for entry in entries if isinstance(entry, str))
    return tuple(text for text in texts if not any(is_mark(text, task) for task in workload.tasks))


def is_mark(entry: Json, task: Task) -> bool:
    """Whether an entry of a trail is what a task wrote."""
    return isinstance(entry, str) and (entry == task.name or entry.startswith(f"{task.name}="))
