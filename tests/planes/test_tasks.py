"""The body of an abstract task: what it writes, and what of that can be recorded."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from recording import RecordingInstruments

from resumption.history.ndjson import jsonable
from resumption.history.workload import Corrupt, Interrupt, Task, WriteFault
from resumption.planes.tasks import perform


def _ask(interrupt: Interrupt) -> Any:
    raise AssertionError(f"{interrupt.name} was asked")


def _written(fault: WriteFault) -> Any:
    return perform(Task("bad", (Corrupt(fault),)), [], RecordingInstruments(), _ask)


def test_no_codec_takes_the_unserialisable_write() -> None:
    write = _written(WriteFault.UNSERIALISABLE)
    with pytest.raises(TypeError):
        json.dumps(write)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(write)


@pytest.mark.parametrize("fault", WriteFault)
def test_every_invalid_write_can_be_recorded(fault: WriteFault) -> None:
    json.dumps(jsonable(_written(fault)))
