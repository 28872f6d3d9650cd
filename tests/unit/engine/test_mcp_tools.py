"""`wai.mcp_tools` against servers in this process and in another."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
import time
from pathlib import Path

import pytest
from mcp.server import MCPServer

import whileai as wai
from whileai.errors import MissingExtra, ParamError
from world_helpers import played, situation

SERVER = '''
import os, sys
from mcp.server import MCPServer
server = MCPServer("demo")

@server.tool()
def get_thing(thing_id: str) -> dict:
    """Get a thing."""
    if thing_id == "die" and not os.path.exists(sys.argv[1]):
        open(sys.argv[1], "w").close()
        os._exit(1)
    return {"thing_id": thing_id, "pid": os.getpid()}

@server.tool()
def update_thing(thing_id: str) -> str:
    """Change a thing."""
    with open(sys.argv[1] + ".writes", "a") as file:
        file.write("x")
    os._exit(1)

server.run("stdio")
'''


@pytest.fixture(autouse=True)
def quiet():
    """The server's own log of tools that raise."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def server():
    made = MCPServer("demo")

    @made.tool()
    def add(a: int, b: int = 2) -> int:
        """Add numbers."""
        return a + b

    @made.tool(name="delete_thing")
    async def delete(thing_id: str) -> dict:
        """Delete a thing."""
        if thing_id == "bad":
            raise ValueError("no such thing")
        return {"thing_id": thing_id}

    return made


def run(tool, arguments):
    return asyncio.run(wai.run_tools(tool, arguments))


def test_a_server_in_this_process_is_listed_and_called(server):
    add, delete = wai.mcp_tools(server)
    assert (add.name, add.description) == ("add", "Add numbers.")
    assert add.parameters["required"] == ["a"]
    assert (delete.effect, delete.guessed) == ("delete", True)
    assert run(add, {"a": 3}) == {"result": 5}
    assert run(delete, {"thing_id": "x"}) == {"thing_id": "x"}
    assert run(add, {"a": "three"})["status"] == "invalid_arguments"
    failed = run(delete, {"thing_id": "bad"})
    assert failed["status"] == "error"
    assert "delete_thing" in failed["error"]


def test_a_simulation_plays_against_it(server):
    tools = wai.mcp_tools(server)

    def plain(message, ctx):
        return f"It is {ctx.call('add', a=4)['result']}."

    async def later(message, ctx):
        got = await asyncio.gather(*(ctx.call("add", a=n) for n in range(5)))
        return f"It is {got[4]['result']}."

    for agent in (plain, later):
        made = played(agent, situation(), tools=tools, execute=wai.run_tools, n=4)
        assert [one.final_text for one in made] == ["It is 6."] * 4


def test_the_connection_ends_with_the_last_tool(server):
    tools = wai.mcp_tools(server)
    names = lambda: [thread.name for thread in threading.enumerate()]  # noqa: E731
    assert "whileai-mcp" in names()
    del tools
    gc.collect()
    end = time.monotonic() + 10
    while "whileai-mcp" in names() and time.monotonic() < end:
        time.sleep(0.02)
    assert "whileai-mcp" not in names()


def test_a_broken_connection_is_opened_again_and_a_write_is_not_sent_twice(tmp_path):
    script = Path(tmp_path, "server.py")
    script.write_text(SERVER)
    get, update = wai.mcp_tools([sys.executable, script, str(tmp_path / "died")])
    first = run(get, {"thing_id": "a"})
    assert run(get, {"thing_id": "a"}) == first  # one client for all calls
    second = run(get, {"thing_id": "die"})  # dies, is opened again, answers
    assert second["thing_id"] == "die"
    assert second["pid"] != first["pid"]
    broken = run(update, {"thing_id": "a"})
    assert broken["status"] == "error"
    assert "whether the call did anything is not known" in broken["error"]
    assert Path(tmp_path, "died.writes").read_text() == "x"
    assert run(get, {"thing_id": "b"})["thing_id"] == "b"


@pytest.mark.parametrize("given", ["python server.py", [], [1], None, 7, {"url": "x"}])
def test_what_is_no_server_is_refused(given):
    with pytest.raises(ParamError, match="mcp_tools: server must be"):
        wai.mcp_tools(given)


@pytest.mark.parametrize("given", [["/nowhere/at/all"], "http://127.0.0.1:9/mcp"])
def test_a_server_that_cannot_be_reached_is_a_connection_error(given):
    with pytest.raises(ConnectionError, match="mcp_tools: cannot connect"):
        wai.mcp_tools(given, timeout=10)


def test_a_server_that_says_nothing_is_given_up():
    with pytest.raises(ConnectionError, match=r"within 0\.5 s"):
        wai.mcp_tools([sys.executable, "-c", "import time; time.sleep(30)"], timeout=0.5)


def test_without_the_client_the_extra_is_named(monkeypatch, server):
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(MissingExtra, match=r"whileai\[mcp\]"):
        wai.mcp_tools(server)
