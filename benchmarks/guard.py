"""What the guard costs: the whole interrupt protocol (start, park, answer, end), guarded and not, taken in turns.

    python benchmarks/guard.py [--quick] [--iterations 200] [--output benchmarks/guard.md]

Each contender is a process with a database of its own on one disk and one server, told in turns to run the protocol
once, so that all meet the same neighbours. Stock LangGraph is measured twice: the difference of the two is the noise
that any other difference has to be read against. `remit` is `remit-contract`, with its cross-process gate and without.
DBOS runs the like of it: three steps, and a message that is waited for between the first two.

Figures are of one machine and one run; compare within a column. Needs `uv`, and PostgreSQL's server programs.
"""

from __future__ import annotations

import argparse
import json
import operator
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from typing_extensions import TypedDict

REMIT = "remit-contract==0.1.2"
DBOS = ("dbos==3.4.0", "pysqlite3-binary==0.5.4.post2", "psycopg[binary]==3.3.9", "typing_extensions")
CONTENDERS = ("stock", "stock-again", "guard", "remit", "remit-gate", "dbos")
CONCURRENT = (1, 4, 16, 64)
THREADS = 100_000
HISTORY = 1_000
OUTCOME = ["draft", "pay=yes", "notify"]

Protocol = Callable[[str], object]
"""Runs the whole protocol on a new thread of this name."""


class State(TypedDict):
    trail: Annotated[list[str], operator.add]


# Contenders -----------------------------------------------------------------------------------------------------------


def program(saver: Any) -> Any:
    """A node, a gate, a node."""
    from langgraph.graph import START, StateGraph
    from langgraph.types import interrupt

    builder: StateGraph[Any] = StateGraph(State)
    builder.add_node("draft", lambda state: {"trail": ["draft"]})
    builder.add_node("pay", lambda state: {"trail": [f"pay={interrupt('sure?')}"]})
    builder.add_node("notify", lambda state: {"trail": ["notify"]})
    for before, after in ((START, "draft"), ("draft", "pay"), ("pay", "notify")):
        builder.add_edge(before, after)
    return builder.compile(checkpointer=saver)


def langgraph(name: str, url: str, *, pooled: bool) -> Protocol:
    """LangGraph's program on its own saver, with what the contender's name says around it."""
    from langgraph.types import Command

    if url.startswith("sqlite"):
        from langgraph.checkpoint.sqlite import SqliteSaver as Saver

        connection: Any = sqlite3.connect(url.removeprefix("sqlite:///"), check_same_thread=False)
    else:
        from langgraph.checkpoint.postgres import PostgresSaver as Saver
        from psycopg import Connection
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool

        options: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        if pooled:
            connection = ConnectionPool(url, kwargs=options, min_size=8, max_size=8, open=True)
        else:
            connection = Connection.connect(url, **options)
    if name.startswith("remit"):
        import remit

        saver = remit.wrap(Saver, connection, cross_process_gate=name == "remit-gate")
    else:
        saver = Saver(connection)
    saver.setup()
    app = program(saver)
    if name == "guard":
        from resumption.langgraph import guard

        app = guard(app)

    def protocol(thread: str) -> None:
        config = {"configurable": {"thread_id": thread}}
        app.invoke({"trail": []}, config)
        outcome = app.invoke(Command(resume="yes"), config)
        if outcome["trail"][-3:] != OUTCOME:
            raise RuntimeError(f"the protocol came to {outcome}")

    return protocol


def dbos(url: str) -> Protocol:
    """A DBOS workflow with the same steps."""
    if url.startswith("sqlite"):
        import pysqlite3  # DBOS needs a newer SQLite than many interpreters link

        sys.modules["sqlite3"], sys.modules["sqlite3.dbapi2"] = pysqlite3, pysqlite3.dbapi2
    from dbos import DBOS, SetWorkflowID

    DBOS(config={"name": "benchmark", "system_database_url": url, "application_version": "1", "log_level": "ERROR"})
    step = DBOS.step()(lambda what: what)

    @DBOS.workflow()
    def workflow() -> list[str]:
        trail = [step("draft")]
        trail.append(step(f"pay={DBOS.recv('approval')}"))
        return [*trail, step("notify")]

    DBOS.launch()

    def protocol(thread: str) -> None:
        with SetWorkflowID(thread):
            handle = DBOS.start_workflow(workflow)
        DBOS.send(thread, "yes", "approval")
        if handle.get_result() != OUTCOME:
            raise RuntimeError("the protocol came to something else")

    return protocol


def serve(name: str, url: str, *, pooled: bool) -> None:
    """Answer each line `kind thread…` with milliseconds and CPU milliseconds, as JSON; end at end of file."""
    protocol = dbos(url) if name == "dbos" else langgraph(name, url, pooled=pooled)
    for warm in range(5):
        protocol(f"warm {warm}")
    _say("ready")
    for line in sys.stdin:
        threads = json.loads(line)
        cpu, began = time.process_time(), time.perf_counter()
        if len(threads) == 1:
            protocol(threads[0])
        else:
            with ThreadPoolExecutor(len(threads)) as racers:
                list(racers.map(protocol, threads))
        _say(json.dumps([(time.perf_counter() - began) * 1000, (time.process_time() - cpu) * 1000]))
    os._exit(0)  # DBOS keeps threads of its own


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Contender:
    """A contender's process."""

    def __init__(self, python: Path, packages: Path, name: str, url: str, *, pooled: bool) -> None:
        command = [str(python), __file__, "--contender", name, "--store", url, *(["--pooled"] if pooled else [])]
        environment = {**os.environ, "PYTHONPATH": str(packages)} if name.startswith("remit") else dict(os.environ)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._answer("ready")

    def run(self, *threads: str) -> tuple[float, float]:
        """Run the protocol on these threads at once; milliseconds, and those of the CPU."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(threads) + "\n")
        self._process.stdin.flush()
        wall, cpu = json.loads(self._answer("["))
        return wall, cpu

    def _answer(self, start: str) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(start):
                return line
        raise RuntimeError(f"{self._process.args!r} ended with {self._process.wait()}")

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


# Measurements ---------------------------------------------------------------------------------------------------------


class Field:
    """Where contenders are started: their environments, and fresh databases."""

    def __init__(self, folder: Path, dsn: str) -> None:
        self._folder = folder
        self._dsn = dsn
        self._packages = folder / "packages"
        self._dbos = folder / "dbos"
        install = ["uv", "pip", "install", "--quiet"]
        # With --no-deps it uses the LangGraph that is measured: nothing else of it differs.
        subprocess.run([*install, "--no-deps", "--target", str(self._packages), REMIT], check=True)
        subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, str(self._dbos)], check=True)
        subprocess.run([*install, "--python", str(self._dbos / "bin" / "python"), *DBOS], check=True)
        self._made = 0

    def url(self, database: str) -> str:
        """The address of a fresh database."""
        import psycopg

        self._made += 1
        if database == "SQLite":
            return f"sqlite:///{self._folder / f'{self._made}.db'}"
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE bench{self._made}")
        return self._dsn.rpartition("/")[0] + f"/bench{self._made}"

    def contender(self, name: str, url: str, *, pooled: bool = False) -> Contender:
        """Start a contender; with `pooled`, PostgreSQL is used through eight connections."""
        python = self._dbos / "bin" / "python" if name == "dbos" else Path(sys.executable)
        return Contender(python, self._packages, name, url, pooled=pooled)


def in_turns(field: Field, database: str, iterations: int) -> list[str]:
    """The rows of one database: every contender, one protocol each, again and again."""
    with ExitStack() as stack:
        running = {name: field.contender(name, field.url(database)) for name in CONTENDERS}
        for contender in running.values():
            stack.callback(contender.close)
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in running}
        for number in range(iterations):
            for name, contender in running.items():
                taken[name].append(contender.run(f"thread {number}"))
    stock = statistics.median(wall for wall, _ in taken["stock"])
    rows = []
    for name, figures in taken.items():
        walls = [wall for wall, _ in figures]
        p50, p95 = statistics.median(walls), statistics.quantiles(walls, n=20)[18]
        cpu = statistics.mean(one for _, one in figures)
        rows.append(f"| {database} | {name} | {p50:.1f} | {p95:.1f} | {p50 / stock:.2f} | {cpu:.1f} |")
    return rows


def at_once(field: Field, database: str, rounds: int) -> list[str]:
    """The rows of one database: several protocols at once, on threads of one process."""
    rows = []
    with ExitStack() as stack:
        running = {name: field.contender(name, field.url(database), pooled=True) for name in ("stock", "guard")}
        for contender in running.values():
            stack.callback(contender.close)
        for several in CONCURRENT:
            per_second: dict[str, list[float]] = {name: [] for name in running}
            for number in range(rounds):
                for name, contender in running.items():
                    threads = [f"{several} {number} {one}" for one in range(several)]
                    per_second[name].append(several / contender.run(*threads)[0] * 1000)
            stock, guarded = (statistics.median(per_second[name]) for name in ("stock", "guard"))
            rows.append(f"| {database} | {several} | {stock:.1f} | {guarded:.1f} | {guarded / stock:.2f} |")
    return rows


def crowd(url: str, threads: int) -> None:
    """Copy what one thread left behind, the guard's rows too, until there are that many."""
    if url.startswith("sqlite"):
        connection: Any = sqlite3.connect(url.removeprefix("sqlite:///"))
        # The rows of a table without its key, which the database hands out.
        columns = "SELECT group_concat(name) FROM pragma_table_info('{}') WHERE name <> 'id'"
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        numbers = (
            f"(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {threads}) SELECT i FROM n)"
        )
    else:
        import psycopg

        connection = psycopg.connect(url)
        columns = (
            "SELECT string_agg(column_name, ',' ORDER BY ordinal_position) FROM information_schema.columns"
            " WHERE table_name = '{}' AND column_name <> 'id'"
        )
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        tables = [row[0] for row in found]
        numbers = f"generate_series(1, {threads}) AS n(i)"
    for table in tables:
        names = connection.execute(columns.format(table)).fetchone()[0].split(",")
        key = next((name for name in names if name in ("thread", "thread_id")), None)
        if key is None:
            continue
        values = ", ".join("'copy ' || i" if name == key else name for name in names)
        connection.execute(
            f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table}, {numbers} WHERE {key} = 'guard 0'"
        )
    connection.commit()
    connection.close()


def grown(field: Field, database: str, iterations: int, threads: int, history: int) -> list[str]:
    """The rows of one database: empty, with many threads, and on a thread with a long history."""
    rows = []
    url = field.url(database)
    with ExitStack() as stack:
        running = {name: field.contender(name, url) for name in ("stock", "guard")}
        for contender in running.values():
            stack.callback(contender.close)

        def compare(what: str, thread: Callable[[str, int], str]) -> None:
            taken: dict[str, list[float]] = {name: [] for name in running}
            for number in range(iterations):
                for name, contender in running.items():
                    taken[name].append(contender.run(thread(name, number))[0])
            stock, guarded = statistics.median(taken["stock"]), statistics.median(taken["guard"])
            rows.append(f"| {database} | {what} | {stock:.1f} | {guarded:.1f} | {guarded / stock:.2f} |")

        compare("nothing", lambda name, number: f"{name} {number}")
        for _ in range(history // 5):  # so many checkpoints each protocol leaves
            for name, contender in running.items():
                contender.run(f"{name} long")
        compare(f"{history:,} checkpoints in the thread", lambda name, number: f"{name} long")
        crowd(url, threads)
        compare(f"{threads:,} other threads", lambda name, number: f"{name} late {number}")
    return rows


def table(head: Sequence[str], rows: Sequence[str]) -> list[str]:
    """A table's lines."""
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows, ""]


def report(iterations: int, *, quick: bool, publish: Callable[[str], object]) -> None:
    """Measure everything; publish the page as it grows, so that a run that is cut short leaves what it measured."""
    from resumption.harness.postgres import ThrowawayPostgres

    before = os.getloadavg()[0]
    turns: list[str] = []
    several: list[str] = []
    growth: list[str] = []
    size = (1_000, 50) if quick else (THREADS, HISTORY)
    with tempfile.TemporaryDirectory() as name, ThrowawayPostgres() as server:
        field = Field(Path(name), server.dsn)
        for database in ("SQLite", "PostgreSQL"):
            turns += in_turns(field, database, iterations)
            publish(page(iterations, before, turns, several, growth))
        for database in ("SQLite", "PostgreSQL"):
            several += at_once(field, database, 2 if quick else 8)
            publish(page(iterations, before, turns, several, growth))
        for database in ("SQLite", "PostgreSQL"):
            growth += grown(field, database, max(10, iterations // 4), *size)
            publish(page(iterations, before, turns, several, growth))


def page(iterations: int, before: float, turns: list[str], several: list[str], growth: list[str]) -> str:
    """The text of the page."""
    packages = ("langgraph", "langgraph-checkpoint-sqlite", "langgraph-checkpoint-postgres", "psycopg")
    versions = [*(f"{one}=={version(one)}" for one in packages), REMIT, DBOS[0]]
    return "\n".join(
        [
            "# What the guard costs",
            "",
            "Written by `python benchmarks/guard.py --output benchmarks/guard.md`; what is measured is said there.",
            f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores shared with other work (load {before:.1f} at the",
            f"beginning, {os.getloadavg()[0]:.1f} at the end), Python {platform.python_version()},",
            f"SQLite {sqlite3.sqlite_version}, {', '.join(versions[:3])},",
            f"{', '.join(versions[3:])}.",
            "",
            f"## The whole interrupt protocol, {iterations} times in turns",
            "",
            *THE_AIM,
            *table(("database", "contender", "p50 ms", "p95 ms", "p50 to stock", "CPU ms"), turns),
            "## Protocols at once, on threads of one process",
            "",
            "PostgreSQL by a pool of eight connections.",
            "",
            *table(("database", "at once", "stock, per second", "guard, per second", "guard to stock"), several),
            "## In a database that has grown",
            "",
            *table(("database", "with", "stock p50 ms", "guard p50 ms", "guard to stock"), growth),
            *WHERE_THE_TIME_GOES,
        ]
    )


THE_AIM = (
    "The aim is a guard that costs at most 1.05 of stock, on both databases. `stock-again` is stock once more: it says",
    "how far stock differs from itself; `remit-gate` is the gate of another package, which stops second answers alone.",
    "",
)

WHERE_THE_TIME_GOES = (
    "## Where the time goes",
    "",
    "Stock LangGraph commits eleven times in this protocol, and each commit waits for the disk. The guard commits",
    "about seven times: the claim is written with the decision, which stock writes too, and what has queued up while",
    "the database was busy is stored in one transaction. That pays for what the guard adds: the lease (one round trip",
    "for each call on PostgreSQL, given up without waiting; a system call on SQLite), a look at what is durable before",
    "a decision is bound, the fence in each transaction (no round trip of its own), and CPU time in Python. Where",
    "commits cost nothing, on a memory file system, only what it adds is left.",
    "",
    "On PostgreSQL most of what the guard adds is CPU time of the driver: a statement inside a pipeline takes about",
    "0.04 ms of this process and 0.07 ms of the clock, a round trip outside one 0.2 ms, and the guard sends 15",
    "queries more than stock (37 to 22). What brought something:",
    "",
    "* The lease is taken and freed through libpq, 0.05 ms a statement where a cursor took 0.13 ms; the freeing isn't",
    "  waited for.",
    "* The last grant is read in the lease's own session, in one query with the lock: what a session reads after it",
    "  got the lock, it reads while it has it. Before, the saver read it and the lease was asked for once more: two",
    "  round trips for an input, one for an answer. Of the server's CPU time beyond stock's, 0.5 ms a protocol, 0.1",
    "  are left; what this process saves is hard to tell from noise (0 to 0.5 ms in runs of 150 and 300 on a busy",
    "  machine).",
    "* The newest checkpoint, what was written at it and the claims are one round trip.",
    "* The claim's grant fails by itself if there was another: its transaction waits for nothing but its commit.",
    "* What a claim put into a task's slot needn't be read when the task hands it back.",
    "* A transaction has one cursor for all that nobody waits for. psycopg copies its adapters for each: the guard",
    "  made 32 in this protocol, stock 13, and they were the largest single item of a profile.",
    "",
    "On SQLite it is CPU time of Python. On a memory file system, where commits cost nothing, the guard's share of the",
    "processor was 1.8 ms a protocol, and is 0.95 ms since a node's writes are checked along with the write:",
    "",
    "* A check was a step of its own among a node's writers, two for each node. LangGraph makes a config and a child",
    "  of the callbacks for each step, runs the input's node as a sequence because of them, and no longer joins the",
    "  writes in front of them. That was half of what the guard added, and the checks themselves a tenth.",
    "* The state that a check looks at was read from a copy of every channel; now it is read from those written.",
    "* The database's file was looked up by a path that was parsed anew for each transaction.",
    "",
    "What is left: the statement of the fence in each transaction, the two admissions (8% of stock's time in a",
    "sampling profile: what is durable, the claim), the scope of each task (2%), and many small steps. To hand what",
    "the admission has read to LangGraph's loop would save a read of the checkpoint; but what was read before the",
    "grant can be out of date, and the loop would act on it.",
    "",
)


def main() -> None:
    """Be a contender, or measure them all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--contender", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    parser.add_argument("--pooled", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--iterations", type=int, default=200, help="protocols for each figure")
    parser.add_argument("--quick", action="store_true", help="few rounds, small databases: does it run?")
    parser.add_argument("--output", type=Path, help="where to write the page; default: the terminal")
    options = parser.parse_args()
    if options.contender:
        serve(options.contender, options.store, pooled=options.pooled)
        return
    publish = options.output.write_text if options.output else sys.stdout.write
    report(10 if options.quick else options.iterations, quick=options.quick, publish=publish)


if __name__ == "__main__":
    main()
