"""Progress goes to standard error: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from resumption.cli.progress import progress
from resumption.harness.cells import Job
from resumption.harness.probes import PROBES
from resumption.harness.runner import Progress
from resumption.planes.registry import specs

_COMMAND = [Path(sys.executable).with_name("resumption"), "check", "reference", "--probe", "fork/two-values"]


def _job() -> Job:
    (spec,) = specs("reference")
    return Job(spec, spec.backends[0], PROBES[0], None)


@pytest.mark.parametrize(("jobs", "lines"), [(98, 10), (10, 10), (3, 3), (1, 1)])
def test_elsewhere_a_line_is_printed_for_each_tenth(jobs: int, lines: int, capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as listen:
        for done in range(1, jobs + 1):
            listen(Progress(done, jobs, _job(), ""))
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == lines
    assert told.err.splitlines()[-1] == f"{jobs} of {jobs} jobs done"


def test_a_problem_is_told_when_it_happens(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as listen:
        listen(Progress(1, 98, _job(), "the worker was lost"))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"{PROBES[0].address}: the worker was lost")


def test_on_a_terminal_a_bar_is_drawn_and_wiped_and_the_report_stays_clean() -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        _COMMAND, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    ) as process:
        os.close(theirs)
        drawn = b""
        while chunk := _read(ours):
            drawn += chunk
        output, _ = process.communicate()
    os.close(ours)
    assert process.returncode == 0, drawn
    assert b"fork/two-values" in drawn
    assert b"\x1b[2K" in drawn
    assert b"\x1b" not in output
    assert b"jobs done" not in drawn


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""  # the other side of a terminal closed
