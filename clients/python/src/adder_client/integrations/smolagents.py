# SPDX-License-Identifier: Apache-2.0
"""smolagents: Adder's tools for a `ToolCallingAgent`, and Adder as the place where a `CodeAgent` runs its code."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

from smolagents import AgentLogger, LogLevel, Tool
from smolagents.local_python_executor import CodeOutput, PythonExecutor
from smolagents.remote_executors import RemotePythonExecutor
from smolagents.utils import AgentExecutionError

from .. import models
from .._sync.client import Adder
from .._sync.sessions import Session
from ._calls import Call, calls

FINAL_ANSWER = f"""
class {RemotePythonExecutor.FINAL_ANSWER_EXCEPTION}(BaseException):
    pass

def final_answer(answer):
    global _final_answer
    import json
    _final_answer = json.dumps(answer, default=str)
    raise {RemotePythonExecutor.FINAL_ANSWER_EXCEPTION}
"""


class _Tool(Tool):  # type: ignore[misc]
    """A tool of Adder."""

    skip_forward_signature_validation = True
    output_type = "string"

    def __init__(self, tool: models.Tool, call: Call) -> None:
        self.name, self.description, self._call = tool.name, tool.description, call
        self.inputs = {name: _input(schema) for name, schema in tool.inputSchema["properties"].items()}
        super().__init__()

    def forward(self, *values: Any, **named: Any) -> str:
        """Calls it; values without names are those of the first inputs."""
        return self._call(**dict(zip(self.inputs, values)), **named)


def tools(adder: Adder, toolset: Optional[str] = None, *, conversation: Optional[str] = None) -> List[Tool]:
    """The tools of TOOLSET, or of the server's default one."""
    return [_Tool(tool, call) for tool, call in calls(adder, toolset, conversation)]


def _input(schema: Dict[str, Any]) -> Dict[str, Any]:
    """What smolagents says of an argument: a type, and whether it may be left out."""
    forms = schema.get("anyOf", [schema])
    some = [form for form in forms if form.get("type") != "null"]
    made = {"type": some[0].get("type", "any"), "description": schema.get("description", "")}
    return made if len(some) == len(forms) else {**made, "nullable": True}


def executor(session: Session, logger: Optional[AgentLogger] = None) -> PythonExecutor:
    """Runs the code of a `CodeAgent` as cells of SESSION: `CodeAgent(tools=[], model=model, executor=executor(session))`. Tools of the agent
    are sent there as source and run there, with the packages of the session's environment. The final answer comes back as JSON, and what
    JSON does not know as text. Whoever made the session ends it."""
    return _Executor(session, logger or AgentLogger(level=LogLevel.OFF))


class _Executor(RemotePythonExecutor):  # type: ignore[misc]
    """Cells of a session."""

    def __init__(self, session: Session, logger: AgentLogger) -> None:
        super().__init__([], logger)
        self.session = session

    def send_tools(self, tools: Dict[str, Tool]) -> None:
        """Defines TOOLS there. The final answer of smolagents would need numpy and Pillow, so there is another."""
        theirs = {name: tool for name, tool in tools.items() if name != "final_answer"}
        if theirs:
            super().send_tools(theirs)
        self.session.run(FINAL_ANSWER).check()

    def run_code_raise_errors(self, code: str) -> CodeOutput:
        """What came of CODE: its value, its output, and whether it was the agent's final answer."""
        result = self.session.run(code)
        if result.error is not None and result.error.type == self.FINAL_ANSWER_EXCEPTION:
            pieces: List[str] = []  # a message of an error is cut, and so is the output of a result
            self.session.run("print(_final_answer)", on_stdout=pieces.append).check()
            return CodeOutput(json.loads("".join(pieces)), result.stdout, is_final_answer=True)
        if not result.ok:
            raise AgentExecutionError(result.for_model(), self.logger)
        value = None if result.value is None else result.text
        return CodeOutput(output=value, logs=result.stdout, is_final_answer=False)

    def install_packages(self, additional_imports: List[str]) -> List[str]:
        """Installs nothing: a sandbox has no network, and code that imports what is not there fails, and says so."""
        return []
