"""pytest's fixtures, as far as tests of small programs use them. Runs inside the sandbox."""

from __future__ import annotations

import os
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class NoFixture(Exception):
    """The tests ask for a fixture that they do not define and that is not made here."""


class MonkeyPatch:
    """``monkeypatch``: changes that are undone after the test."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], Any]] = []

    def setattr(self, target: Any, name: Any, *value: Any, raising: bool = True) -> None:
        """Set an attribute, or what a dotted path names."""
        if not value:
            path, _, attribute = target.rpartition(".")
            target, name, value = _resolve(path), attribute, (name,)
        if raising and not hasattr(target, name):
            raise AttributeError(name)
        missing = object()
        old = vars(target).get(name, missing) if isinstance(target, type) else getattr(target, name, missing)
        self._undo.append(lambda: delattr(target, name) if old is missing else setattr(target, name, old))
        setattr(target, name, value[0])

    def delattr(self, target: Any, name: str, raising: bool = True) -> None:
        """Delete an attribute."""
        if hasattr(target, name):
            old = getattr(target, name)
            self._undo.append(lambda: setattr(target, name, old))
            delattr(target, name)
        elif raising:
            raise AttributeError(name)

    def setitem(self, mapping: Any, key: Any, value: Any) -> None:
        """Set an item."""
        missing = object()
        old = mapping.get(key, missing)
        self._undo.append(lambda: mapping.pop(key, None) if old is missing else mapping.__setitem__(key, old))
        mapping[key] = value

    def delitem(self, mapping: Any, key: Any, raising: bool = True) -> None:
        """Delete an item."""
        if key in mapping:
            old = mapping.pop(key)
            self._undo.append(lambda: mapping.__setitem__(key, old))
        elif raising:
            raise KeyError(key)

    def setenv(self, name: str, value: Any, prepend: Any = None) -> None:
        """Set a variable of the environment."""
        old = os.environ.get(name)
        self.setitem(os.environ, name, f"{value}{prepend}{old}" if prepend and old else str(value))

    def delenv(self, name: str, raising: bool = True) -> None:
        """Delete a variable of the environment."""
        self.delitem(os.environ, name, raising)

    def chdir(self, path: Any) -> None:
        """Change the working folder."""
        old = os.getcwd()  # noqa: PTH109 - pathlib is not loaded here
        self._undo.append(lambda: os.chdir(old))
        os.chdir(path)

    def syspath_prepend(self, path: Any) -> None:
        """Put a folder first on the import path."""
        self._undo.append(lambda: sys.path.remove(str(path)))
        sys.path.insert(0, str(path))

    def undo(self) -> None:
        """Undo all, last first."""
        while self._undo:
            self._undo.pop()()


def _resolve(path: str) -> Any:
    import importlib

    parts = path.split(".")
    for size in range(len(parts), 0, -1):
        try:
            place = importlib.import_module(".".join(parts[:size]))
        except ImportError:
            continue
        for name in parts[size:]:
            place = getattr(place, name)
        return place
    raise ImportError(path)


class Captured:
    """``capsys``: what was printed since the last look."""

    def __init__(self) -> None:
        import io

        self.new = io.StringIO
        self.old = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = self.new(), self.new()

    def readouterr(self) -> Any:
        """What was printed since the last call, as ``out`` and ``err``."""
        streams: Any = (sys.stdout, sys.stderr)
        read = [stream.getvalue() for stream in streams]
        sys.stdout, sys.stderr = self.new(), self.new()
        pair = __import__("collections").namedtuple("CaptureResult", "out err")
        return pair(*read)

    def close(self) -> None:
        """Give the streams back."""
        sys.stdout, sys.stderr = self.old


class Fixtures:
    """The fixtures of one test: the tests' own and three of pytest's, made on demand and undone in reverse."""

    def __init__(self, known: dict[str, Any]) -> None:
        self.known, self.made = known, {}  # type: tuple[dict[str, Any], dict[str, Any]]
        self._last: list[Callable[[], Any]] = []

    def arguments(self, function: Any, owner: Any = None, given: dict[str, Any] | None = None) -> dict[str, Any]:
        """A value for every parameter that `function` has no value for."""
        code = getattr(function, "__code__", None)
        if code is not None and not code.co_argcount and not code.co_kwonlyargcount:
            return {}
        import inspect

        values = dict(given or {})
        for name, parameter in inspect.signature(function).parameters.items():
            if name not in values and parameter.default is parameter.empty and parameter.kind in (1, 3):
                values[name] = self.get(name, owner)
        return values

    def get(self, name: str, owner: Any = None) -> Any:
        """The value of a fixture."""
        if name not in self.made:
            self.made[name] = self._make(name, owner)
        return self.made[name]

    def _make(self, name: str, owner: Any) -> Any:
        function = getattr(type(owner), name, None) if owner is not None else None
        if function is not None and hasattr(function, "fixture_"):
            function = getattr(owner, name)
        else:
            function = self.known.get(name)
        if function is not None:
            made = function(**self.arguments(function, owner))
            return self._first_of(made) if type(made) is types.GeneratorType else made
        if name == "monkeypatch":
            patch = MonkeyPatch()
            self._last.append(patch.undo)
            return patch
        if name == "capsys":
            captured = Captured()
            self._last.append(captured.close)
            return captured
        if name == "tmp_path":
            import pathlib
            import tempfile

            return pathlib.Path(tempfile.mkdtemp(dir="."))
        raise NoFixture(name)

    def _first_of(self, made: Iterator[Any]) -> Any:
        value = next(made)
        self._last.append(lambda: next(made, None))
        return value

    def close(self) -> None:
        """Undo what was made."""
        while self._last:
            self._last.pop()()
