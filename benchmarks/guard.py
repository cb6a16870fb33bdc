"""What the guard costs: the whole interrupt protocol (start, park, answer, end), guarded and not, taken in turns.

Taking turns within one run lets both see the same disk and the same neighbours. Stock LangGraph is measured twice: the
difference of the two is the noise that any other difference has to be read against.

    python benchmarks/guard.py [ITERATIONS]
"""

from __future__ import annotations

import json
import operator
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from resumption.errors import PostgresMissing
from resumption.harness.postgres import ThrowawayPostgres
from resumption.langgraph import guard


class State(TypedDict):
    trail: Annotated[list[str], operator.add]


def program() -> StateGraph[Any]:
    """A node, a gate, a node."""
    builder: StateGraph[Any] = StateGraph(State)
    builder.add_node("draft", lambda state: {"trail": ["draft"]})
    builder.add_node("pay", lambda state: {"trail": [f"pay={interrupt('sure?')}"]})
    builder.add_node("notify", lambda state: {"trail": ["notify"]})
    for before, after in ((START, "draft"), ("draft", "pay"), ("pay", "notify")):
        builder.add_edge(before, after)
    return builder


def protocol(app: Any, thread: str) -> float:
    """Run the whole protocol on a new thread; return how long it took, in milliseconds."""
    config = {"configurable": {"thread_id": thread}}
    began = time.perf_counter()
    app.invoke({"trail": []}, config)
    outcome = app.invoke(Command(resume="yes"), config)
    took = (time.perf_counter() - began) * 1000
    if outcome["trail"] != ["draft", "pay=yes", "notify"]:
        raise RuntimeError(f"the protocol came to {outcome}")
    return took


def measure(saver: Callable[[], Any], iterations: int) -> dict[str, dict[str, float]]:
    """Percentiles of each contestant, in milliseconds."""
    apps = {
        "stock": program().compile(checkpointer=saver()),
        "stock again": program().compile(checkpointer=saver()),
        "guard": guard(program().compile(checkpointer=saver())),
    }
    times: dict[str, list[float]] = {name: [] for name in apps}
    for round_ in range(iterations + 5):
        for name, app in apps.items():
            took = protocol(app, f"{name} {round_}")
            if round_ >= 5:  # the first ones warm up
                times[name].append(took)
    base = statistics.median(times["stock"])
    return {
        name: {
            "p50": round(statistics.median(taken), 2),
            "p95": round(statistics.quantiles(taken, n=20)[18], 2),
            "of stock": round(statistics.median(taken) / base, 3),
        }
        for name, taken in times.items()
    }


def main() -> None:
    """Measure on SQLite, and on PostgreSQL where it is installed; print JSON."""
    iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    figures: dict[str, Any] = {"iterations": iterations}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:

        def sqlite() -> SqliteSaver:
            return SqliteSaver(sqlite3.connect(Path(folder) / "graph.db", check_same_thread=False))

        figures["sqlite"] = measure(sqlite, iterations)
        try:
            server = stack.enter_context(ThrowawayPostgres())
        except PostgresMissing as error:
            figures["postgres"] = str(error)
        else:

            def postgres() -> PostgresSaver:
                saver = stack.enter_context(PostgresSaver.from_conn_string(server.dsn))
                saver.setup()
                return saver

            figures["postgres"] = measure(postgres, iterations)
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
