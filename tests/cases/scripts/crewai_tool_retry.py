"""For an interpreter that has CrewAI: use a tool whose reply is lost, and write how often it had its effect.

What it says goes into a file of the folder named first: CrewAI writes to the terminal from threads of its own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from crewai.tools import tool
from crewai.tools.tool_calling import ToolCalling
from crewai.tools.tool_usage import ToolUsage

paid: list[str] = []


@tool("pay")
def pay(order: str) -> str:
    """Pay an order."""
    paid.append(order)
    raise ConnectionError("the order is paid, and the reply was lost")


usage = ToolUsage(tools_handler=None, tools=[pay.to_structured_tool()], task=None, function_calling_llm=None)
said = usage.use(ToolCalling(tool_name="pay", arguments={"order": "o-1"}), tool_string="")
Path(sys.argv[1], "said.json").write_text(json.dumps({"paid": paid, "said": str(said)}))
