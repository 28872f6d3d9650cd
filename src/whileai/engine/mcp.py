"""`wai.mcp_tools`: the tools of an MCP server, called over one connection that is opened again when it breaks."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import json
import os
import threading
import weakref
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from whileai import params
from whileai.engine.tools import Tool, as_tools
from whileai.errors import MissingExtra, ParamError

CALL = "mcp_tools"
_TIMEOUT = 30.0

T = TypeVar("T")


class ToolError(RuntimeError):
    """An MCP server says that a tool failed."""


def mcp_tools(server: Any, *, timeout: float = _TIMEOUT) -> list[Tool]:
    """The tools of an MCP server.

    Parameters
    ----------
    server : object
        A URL, a command with its arguments as a list (``["python", "server.py"]``), or a server object of the ``mcp``
        package in this process.
    timeout : float
        Seconds for connecting and listing, and for each call.

    Returns
    -------
    list of Tool
        With names, schemas and effects as the server declares them. Their bodies call the server, over one connection
        for all of them: ``simulate(tools=mcp_tools(server), execute=wai.run_tools)`` plays against the real ones, and
        without ``execute=`` only the schemas are used.

    Raises
    ------
    MissingExtra
        The extra ``mcp`` is not installed.
    ParamError
        If `server` is none of these.
    ConnectionError
        If it cannot be reached.

    Examples
    --------
    >>> import asyncio
    >>> import whileai as wai
    >>> from mcp.server import MCPServer
    >>> server = MCPServer("shop")
    >>> @server.tool()
    ... def get_order(order_id: str) -> dict:
    ...     return {"order_id": order_id, "status": "shipped"}
    >>> tools = wai.mcp_tools(server)
    >>> asyncio.run(wai.run_tools(tools[0], {"order_id": "A-1"}))
    {'order_id': 'A-1', 'status': 'shipped'}
    """
    try:
        import mcp  # noqa: F401 - used on the connection's thread; here to say early that it is missing
    except ImportError as error:
        raise MissingExtra("mcp_tools needs the mcp client: pip install 'whileai[mcp]'") from error
    params.real(CALL, "timeout", timeout, "a number of seconds above 0", 0, float("inf"), ends="()")
    connection = _Connection(_transport(server), timeout)
    listed = connection.ask(connection.list_tools())
    return [_bound(tool, connection) for tool in as_tools(listed, CALL)]


def _transport(server: Any) -> Any:
    """What the client of the package takes for a server."""
    if isinstance(server, str):
        if server.startswith(("http://", "https://")):
            return server
        raise ParamError.of(CALL, "server", "a URL, a command as a list, or a server", server, "Write its parts apart.")
    if isinstance(server, (list, tuple)):
        if not server or not all(isinstance(part, (str, os.PathLike)) for part in server):
            raise ParamError.of(CALL, "server", "a command and its arguments", server)
        from mcp import StdioServerParameters

        command, *arguments = map(os.fspath, server)
        return StdioServerParameters(command=command, args=list(arguments))
    if server is None or isinstance(server, (int, float, Mapping)):
        raise ParamError.of(CALL, "server", "a URL, a command as a list, or a server", server)
    return server


class _Connection:
    """One client on a thread and a loop of its own, because a connection lives in the task that opened it.

    It ends with the last tool that uses it.
    """

    def __init__(self, server: Any, timeout: float) -> None:
        self.timeout = timeout
        self._loop = asyncio.new_event_loop()
        self._held = _Held(server, timeout)
        threading.Thread(target=_run, args=(self._loop,), name="whileai-mcp", daemon=True).start()
        weakref.finalize(self, _end, self._loop, self._held)

    def submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Have `work` done on the connection's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def ask(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, waited for here."""
        return self.submit(work).result()

    async def list_tools(self) -> list[Any]:
        """The tools as the server lists them, all pages of them."""
        client = await self._held.client()
        found: list[Any] = []
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def call(self, name: str, arguments: dict[str, Any], *, again: bool) -> Any:
        """The answer of a tool.

        A broken connection is opened again; the call is sent again only where sending it twice does no harm.
        """
        client = await self._held.client()
        try:
            result = await self._held.watched(client.call_tool(name, arguments))
        except ConnectionError:
            if not again:
                raise
            client = await self._held.client()
            result = await self._held.watched(client.call_tool(name, arguments))
        return _answer(result)


class _Held:
    """The open client, in the one task that may open and close it."""

    def __init__(self, server: Any, timeout: float) -> None:
        self.server = server
        self.timeout = timeout
        self._task: asyncio.Task[None] | None = None
        self._client: Any = None
        self._stop: asyncio.Event | None = None
        self._lock: asyncio.Lock | None = None

    async def client(self) -> Any:
        """The client, opened where there is none."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        async with self._lock:
            if self._client is None:
                opened: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
                self._stop = asyncio.Event()
                self._task = asyncio.get_running_loop().create_task(self._hold(opened, self._stop))
                try:
                    self._client = await asyncio.wait_for(opened, self.timeout)
                except TimeoutError:
                    self._task.cancel()
                    raise ConnectionError(f"{CALL}: the server did not answer within {self.timeout:g} s") from None
            return self._client

    async def _hold(self, opened: asyncio.Future[Any], stop: asyncio.Event) -> None:
        from mcp import Client

        try:
            async with Client(self.server, read_timeout_seconds=self.timeout) as client:
                opened.set_result(client)
                await stop.wait()
        except Exception as error:  # noqa: BLE001 - whoever asked for the client is told
            if not opened.done():
                opened.set_exception(ConnectionError(f"{CALL}: cannot connect to the server: {_said(error)}"))

    async def watched(self, call: Coroutine[Any, Any, T]) -> T:
        """The result of a request; a broken connection is let go and raised as `ConnectionError`."""
        from mcp import MCPError

        try:
            return await call
        except MCPError as error:
            if error.error.code != _closed():
                raise
            broken: BaseException = error
        except Exception as error:
            if not isinstance(error, (OSError, EOFError, RuntimeError, *_stream_errors())):
                raise
            broken = error
        await self.let_go()
        told = f"the connection broke: {_said(broken)}; whether the call did anything is not known"
        raise ConnectionError(told) from broken

    async def let_go(self) -> None:
        """Close the client."""
        task, self._task, self._client = self._task, None, None
        if self._stop is not None:
            self._stop.set()
        if task is not None:
            await asyncio.wait([task], timeout=5)
            task.cancel()


def _closed() -> int:
    """The code of a request whose connection was closed under it."""
    from mcp.types import CONNECTION_CLOSED

    return int(CONNECTION_CLOSED)


def _stream_errors() -> tuple[type[Exception], ...]:
    """What the streams of a broken connection raise."""
    import anyio

    return anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream


def _said(error: BaseException) -> str:
    """What an error says, the first one of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _end(loop: asyncio.AbstractEventLoop, held: _Held) -> None:
    """Close a connection nobody can use any more, then its loop."""

    async def close() -> None:
        await held.let_go()
        loop.call_soon(loop.stop)

    closing = close()
    with suppress(RuntimeError):  # the loop ended before
        asyncio.run_coroutine_threadsafe(closing, loop)
        return
    closing.close()


def _answer(result: Any) -> Any:
    """What a tool answered, as JSON."""
    texts = [block.text for block in result.content if getattr(block, "type", None) == "text"]
    if result.is_error:
        raise ToolError("\n".join(texts) or "no reason given")
    if result.structured_content is not None:
        return result.structured_content
    if len(texts) == len(result.content):
        text = "\n".join(texts)
        if text[:1] in ("{", "["):
            with suppress(ValueError):
                return json.loads(text)
        return text
    return [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]


def _bound(tool: Tool, connection: _Connection) -> Tool:
    """A tool whose body calls the server."""

    async def body(**arguments: Any) -> Any:
        work = connection.call(tool.name, arguments, again=tool.effect == "read")
        return await asyncio.wrap_future(connection.submit(work))

    body.__name__ = tool.name
    return dataclasses.replace(tool, fn=body)
