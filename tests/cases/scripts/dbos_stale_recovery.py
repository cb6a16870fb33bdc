"""For an interpreter that has DBOS: recover a dead executor's queued workflow by a list that is stale the second time.

Called twice on one folder: as `die`, which is killed in the middle of the workflow, and as `recover`, which writes who
ran the workflow's body. The workflow is a fork of another one, because DBOS queues forks itself.
"""

from __future__ import annotations

import inspect
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pysqlite3

sys.modules["sqlite3"] = pysqlite3
sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2

from dbos import DBOS, DBOSConfig, SetWorkflowID  # noqa: E402
from dbos import _recovery as recovery  # noqa: E402

role, folder = sys.argv[1], Path(sys.argv[2])
record = folder / "record"


@DBOS.workflow(name="work")
def work() -> str:
    if DBOS.workflow_id == "forked":
        with record.open("a") as file:
            file.write(f"{role}\n")
        if role == "die":
            os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def recover_each(dbos: Any, workflows: list[Any]) -> None:
    for workflow in workflows:
        parameters = inspect.signature(recovery._recover_workflow).parameters
        recovery._recover_workflow(dbos, workflow, *([["dead"]] if "executor_ids" in parameters else []))


config: dict[str, Any] = {
    "name": "stale",
    "system_database_url": f"sqlite:///{folder}/dbos.sqlite",
    "application_version": "v1",
    "executor_id": "dead" if role == "die" else "alive",
    "log_level": "ERROR",
}
if "run_admin_server" in DBOSConfig.__annotations__:
    config["run_admin_server"] = False
dbos = DBOS(config=config)
DBOS.launch()
if role == "die":
    with SetWorkflowID("first"):
        DBOS.start_workflow(work).get_result()
    with SetWorkflowID("forked"):
        DBOS.fork_workflow("first", 1).get_result()  # never returns
stale = dbos._sys_db.get_pending_workflows("dead", "v1")
recover_each(dbos, stale)
recover_each(dbos, stale)
DBOS.retrieve_workflow("forked").get_result()
sys.stdout.write(f"\n{json.dumps({'pending': len(stale), 'ran': record.read_text().split()})}\n")
DBOS.destroy()
