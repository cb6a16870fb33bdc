"""Runs without faults: what everything else is compared with, and where kill points are enumerated from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from resumption.contract.judges.operations import operation_of
from resumption.errors import DrillFailed
from resumption.harness.drill.driving import Answered, Driver
from resumption.harness.drill.observed import Observed, comparable, observe
from resumption.harness.drill.request import Request
from resumption.harness.drill.site import Site, Way
from resumption.history.events import Deliver, Json
from resumption.history.history import History

__all__ = ["Twin", "differences", "run_twin"]


@dataclass(frozen=True, slots=True)
class Twin:
    """One run without faults, in one process."""

    name: str
    history: History
    answered: tuple[Answered, ...]
    """The decisions that were handed over, in order."""
    observed: Observed

    def after(self, place: int, keys: Mapping[str, str]) -> Observed:
        """What followed from the answer at a place on."""
        delivers = list(self.history.of(Deliver))
        return observe(self.history, keys, after=delivers[place].operation)

    def operation_at(self, number: int) -> int:
        """The place of the answer during which event `number` happened; -1 for the start."""
        operation = operation_of(self.history, self.history.events[number - 1].operation)
        delivers = [deliver.operation for deliver in self.history.of(Deliver)]
        return delivers.index(operation.operation) if operation and operation.operation in delivers else -1


def run_twin(site: Site, request: Request, way: Way, name: str, instead: Mapping[int, Json] | None = None) -> Twin:
    """Run the program without faults; `instead` holds other answers by place.

    Raises `DrillFailed` if it doesn't come to its end, `DecisionMissing` if a gate asks what nobody decided.
    """
    driver = Driver(request.decisions, instead or {})
    with site.ground(name, None, way) as ground:
        process = ground.process()
        stuck = driver.finish(process, process.start(request.input))
        if stuck is not None:
            raise DrillFailed(
                f"{request.target} doesn't come to its end, without any fault: {stuck.reason.rstrip('.')}.",
                advice="Run it by hand with this input and these decisions first.",
            )
    if ground.observation is None:
        raise DrillFailed(f"The run {name} wasn't observed.", advice="Report this.")
    history = ground.observation.history
    return Twin(name, history, tuple(driver.answered), observe(history, request.keys))


def differences(one: Twin, other: Twin) -> tuple[str, ...]:
    """In what two runs without faults differ: the reasons why neither can be compared with anything."""
    found = []
    for effect in sorted(one.observed.effects.keys() | other.observed.effects.keys()):
        first, second = one.observed.effects[effect], other.observed.effects[effect]
        if first != second:
            found.append(
                f"effect `{effect.name}` of `{effect.task}` with {effect.arguments} fired {first} and {second} times"
            )
    gates = [[answered.gate.name for answered in twin.answered] for twin in (one, other)]
    if gates[0] != gates[1]:
        found.append(f"the gates asked were {', '.join(gates[0])} and {', '.join(gates[1])}")
    found += [f"the final state differs in {place}" for place in _places(one.observed.values, other.observed.values)]
    return tuple(found)


def _places(one: Json, other: Json, path: str = "") -> list[str]:
    if comparable(one) == comparable(other):
        return []
    if isinstance(one, dict) and isinstance(other, dict):
        return [
            place
            for key in dict.fromkeys((*one, *other))
            for place in _places(one.get(key), other.get(key), f"{path}.{key}" if path else key)
        ]
    return [path or "the whole"]
