"""What a recorded effect costs: this ledger, `exactly-once`, a DBOS step, and two bare commits, side by side.

    python benchmarks/ledger.py [--quick] [--output benchmarks/ledger.md]

Each contender is a process of its own, in an environment of its own where that has other packages; it opens its store
once and then measures as many calls as it is told to. Rounds alternate between the contenders, so that all of them meet
the same disk and the same neighbours. The effect itself does nothing. Figures are of one machine and one run; compare
within a row, not between machines. Needs `uv`, and PostgreSQL's server programs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PACKAGES = ["exactly-once==0.2.1", "dbos==3.4.0", "pysqlite3-binary==0.5.4.post2", "psycopg[binary]==3.3.9"]
CONTENDERS = ("bare", "ledger", "exactly-once", "dbos")
SIZES = (1_000, 10_000, 100_000, 1_000_000)

Call = Callable[[int], object]


def key_of(number: int) -> str:
    """Keys in no order: an index gets no help from neighbours."""
    return "charge:" + hashlib.sha256(str(number).encode()).hexdigest()[:24]


# Contenders: each gives a function that performs one recorded effect under a fresh key.


def bare(url: str) -> Iterator[Call]:
    """The floor: two commits that change one row, with the durability of the ledger's."""
    connection: Any
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        mark = "?"
    else:
        import psycopg

        connection = psycopg.connect(url, autocommit=True)
        mark = "%s"
    connection.execute("CREATE TABLE bare (key TEXT PRIMARY KEY, done INTEGER)")

    def call(number: int) -> None:
        connection.execute(f"INSERT INTO bare VALUES ({mark}, 0)", (key_of(number),))
        connection.execute(f"UPDATE bare SET done = 1 WHERE key = {mark}", (key_of(number),))

    yield call


def ledger(url: str) -> Iterator[Call]:
    """This package."""
    from resumption import Ledger, effect

    yield effect(Ledger(url), key=key_of)(lambda number: number)


def exactly_once(url: str) -> Iterator[Call]:
    """`exactly-once`, as its documentation sets it up."""
    from exactly_once import Store, once

    store = Store.sqlite(url.removeprefix("sqlite:///")) if url.startswith("sqlite") else Store.postgres(url)
    yield once(store, key=key_of)(lambda number: number)


def dbos(url: str) -> Iterator[Call]:
    """A step inside one running DBOS workflow (the workflow's own start and end are not measured)."""
    if url.startswith("sqlite"):
        import pysqlite3  # DBOS needs a newer SQLite than many interpreters link

        sys.modules["sqlite3"], sys.modules["sqlite3.dbapi2"] = pysqlite3, pysqlite3.dbapi2
    from dbos import DBOS, SetWorkflowID

    DBOS(config={"name": "benchmark", "system_database_url": url, "application_version": "1", "log_level": "ERROR"})
    step = DBOS.step()(lambda number: number)

    @DBOS.workflow()
    def workflow() -> None:
        serve(lambda number: step(number))

    DBOS.launch()
    with SetWorkflowID("benchmark"):
        workflow()
    DBOS.destroy()
    yield from ()


def serve(call: Call) -> None:
    """Answer each line `first count` with the seconds that these calls took; end at end of file."""
    call(-1)
    answer("ready")
    for line in sys.stdin:
        first, count = map(int, line.split())
        taken = []
        for number in range(first, first + count):
            started = time.perf_counter()
            call(number)
            taken.append(time.perf_counter() - started)
        answer(json.dumps(taken))


def answer(line: str) -> None:
    """One line to the measuring process."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Contender:
    """A contender's process."""

    def __init__(self, python: Path, name: str, url: str) -> None:
        command = [str(python), __file__, "--contender", name, "--store", url]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._next = 0
        self.taken: list[float] = []
        self._answer("ready")

    def round(self, count: int) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{self._next} {count}\n")
        self._process.stdin.flush()
        self._next += count
        self.taken += json.loads(self._answer("["))

    def _answer(self, start: str) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(start):
                return line
        raise RuntimeError(f"{self._process.args!r} ended with {self._process.wait()}")

    def close(self) -> None:
        self._process.communicate()


def side_by_side(python: Path, stores: dict[str, Callable[[str], str]], rounds: int) -> list[str]:
    """One row per contender, one pair of columns per database."""
    figures: dict[str, list[str]] = {name: [] for name in CONTENDERS}
    for address in stores.values():
        with ExitStack() as stack:
            running = {}
            for name in CONTENDERS:
                interpreter = python if name in ("exactly-once", "dbos") else Path(sys.executable)
                running[name] = Contender(interpreter, name, address(name))
                stack.callback(running[name].close)
            for _ in range(rounds):
                for contender in running.values():
                    contender.round(10)
        floor = statistics.median(running["bare"].taken)
        for name, contender in running.items():
            p50, p95 = statistics.median(contender.taken), statistics.quantiles(contender.taken, n=20)[-1]
            figures[name].append(f"{p50 * 1e3:.2f} | {p95 * 1e3:.2f} | {p50 / floor:.2f}")
    header = " | ".join(f"{name} p50 ms | p95 ms | to bare" for name in stores)
    lines = [f"| | {header} |", "|---" * (1 + 3 * len(stores)) + "|"]
    return lines + [f"| {name} | {' | '.join(columns)} |" for name, columns in figures.items()]


def fill(url: str, rows: int) -> None:
    """Put that many settled records into a ledger, as fast as the database takes them."""
    from resumption import Ledger
    from resumption.guard.stores.records import COLUMNS, Record, fresh_token
    from resumption.guard.stores.statements import SQLITE

    empty = Ledger(url)
    empty.setup()
    empty.close()
    now = datetime.now(UTC).isoformat()
    keys = sorted(key_of(-2 - number) for number in range(rows))  # sorted: fast to write, and the same index after all
    records = (Record(key, fresh_token(), "done", "open", "0" * 64, 1, "{}", 1, 0, now, now, None, "1") for key in keys)
    if url.startswith("sqlite"):
        embedded = sqlite3.connect(url.removeprefix("sqlite:///"))
        embedded.execute("PRAGMA journal_mode = OFF")
        embedded.execute("PRAGMA synchronous = OFF")
        with embedded:
            embedded.executemany(SQLITE.insert, map(Record.values, records))
        embedded.close()
        return
    import psycopg

    into = f"COPY resumption_effects ({', '.join(COLUMNS)}) FROM STDIN"
    with psycopg.connect(url) as connection, connection.cursor() as cursor, cursor.copy(into) as copy:
        for record in records:
            copy.write_row(record.values())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE resumption_effects")
        connection.execute("CHECKPOINT")


def growth(stores: dict[str, Callable[[str], str]], sizes: tuple[int, ...], rounds: int) -> list[str]:
    """One row per database: this ledger with that many settled records in it."""
    lines = [f"| | {' | '.join(f'{size:,} p50 ms' for size in sizes)} | growth |", "|---" * (2 + len(sizes)) + "|"]
    for store, address in stores.items():
        with ExitStack() as stack:
            running = []
            for size in sizes:
                url = address(f"rows{size}")
                fill(url, size)
                running.append(Contender(Path(sys.executable), "ledger", url))
                stack.callback(running[-1].close)
            for _ in range(rounds):
                for contender in running:
                    contender.round(10)
        medians = [statistics.median(contender.taken) for contender in running]
        columns = " | ".join(f"{median * 1e3:.2f}" for median in medians)
        lines.append(f"| {store} | {columns} | {medians[-1] / medians[0]:.2f} |")
    return lines


def environment(folder: Path) -> Path:
    """An interpreter with the other contenders' packages."""
    subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    python = folder / "bin" / "python"
    subprocess.run(["uv", "pip", "install", "--quiet", "--python", str(python), *PACKAGES], check=True)
    return python


def databases(folder: Path, dsn: str) -> dict[str, Callable[[str], str]]:
    """For each kind of store, a function that makes a fresh one and returns its address."""
    import psycopg

    def postgres(name: str) -> str:
        database = name.replace("-", "_")
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {database}")
        return dsn.rpartition("/")[0] + f"/{database}"

    return {"SQLite": lambda name: f"sqlite:///{folder / name}.db", "PostgreSQL": postgres}


def report(quick: bool) -> str:
    """Measure everything; the text of the page."""
    from resumption.harness.postgres import ThrowawayPostgres

    rounds = 3 if quick else 30
    sizes = SIZES[:2] if quick else SIZES
    with tempfile.TemporaryDirectory() as name, ThrowawayPostgres() as server:
        folder = Path(name)
        stores = databases(folder, server.dsn)
        table = side_by_side(environment(folder / "environment"), stores, rounds)
        rows = growth(stores, sizes, rounds)
    load = os.getloadavg()[0]
    machine = (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores shared with other work (load {load:.1f}),\n"
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {', '.join(PACKAGES)}.\n"
        f"{rounds * 10} calls per figure."
    )
    return "\n".join(
        [
            "# What a recorded effect costs",
            "",
            "Written by `python benchmarks/ledger.py --output benchmarks/ledger.md`; what is measured is said there.",
            machine,
            "",
            "## begin + commit, side by side",
            "",
            *table,
            "",
            "`bare` is two commits that change one row. Durability on SQLite differs: `bare`, `ledger` and DBOS sync",
            "each commit to the disk. `exactly-once` sets `synchronous=NORMAL`, which doesn't: a power cut can take",
            "back the begin of an effect that has fired.",
            "",
            "## this ledger by the number of its records",
            "",
            *rows,
            "",
        ]
    )


def main() -> None:
    """Be a contender, or measure them all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--contender", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="few rounds, small ledgers: does it run?")
    parser.add_argument("--output", type=Path, help="where to write the page; default: the terminal")
    options = parser.parse_args()
    if options.contender:
        for call in globals()[options.contender.replace("-", "_")](options.store):
            serve(call)
        return
    page = report(options.quick)
    if options.output:
        options.output.write_text(page)
    else:
        sys.stdout.write(page)


if __name__ == "__main__":
    main()
