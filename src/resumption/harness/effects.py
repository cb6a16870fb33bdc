"""The effect service from the harness's side: started for a trial, and stopped with it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from resumption.errors import WorkerLost

__all__ = ["EffectService"]


class EffectService:
    """The process that stands between the workers of one trial and the effect record."""

    def __init__(self, folder: Path, record: Path) -> None:
        """Start it. Raises `WorkerLost` if it doesn't start."""
        self._times = folder / "times.ndjson"
        socket = folder / "effects.sock"
        self.location = f"unix:{socket}"
        """Where a worker's oracle connects to."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "resumption.worker.effect_service", str(socket), str(record), str(self._times)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        if self._process.stdout is None or self._process.stdout.readline() != b"ready\n":
            raise WorkerLost("The effect service didn't start.", advice="Run again; if it stays so, report it.")

    def times(self) -> dict[str, int]:
        """The times that it took so far, by name, in nanoseconds of its clock."""
        lines = self._times.read_text().splitlines() if self._times.exists() else []
        return dict(json.loads(line) for line in lines)

    def stop(self) -> None:
        """Stop it, and reap it. Harmless the second time."""
        if self._process.returncode is None:
            self._process.communicate()
