"""What is sent into the sandbox: the modules of this folder that run inside, compiled, and the lines that start them.

They get builtins of their own and are in no `sys.modules`, so the candidate's imports do not lead to them. Nothing
of the library has to be readable or installed inside.
"""

from __future__ import annotations

import functools
import importlib.util
import marshal

_HERE = ("channel", "kernel", "cage", "syntax", "rewrite", "decoys", "guard", "fixtures", "doubles", "units", "runner",
         "volume", "child", "program", "supervisor")  # fmt: skip
#: The modules that run inside, in the order they need each other.
INSIDE = ("whileai.verify.reading.code_text", *(f"whileai.verify.sandbox.{name}" for name in _HERE))

STARTER = """
import sys

def start():
    import builtins, marshal, os, types

    def take():
        data = b""
        want = int.from_bytes(os.read(0, 8), "big")
        while len(data) < want:
            part = os.read(0, min(want - len(data), 1 << 20))
            if not part:
                raise SystemExit("the job was cut off")
            data += part
        return data

    own, taken = dict(vars(builtins)), {}
    own["__import__"] = importer(taken, builtins.__import__)
    for name, code in marshal.loads(take()):
        if name.endswith("kernel") and sys.platform != "linux":
            continue
        module = types.ModuleType(name)
        module.__dict__["__builtins__"] = own
        taken[name] = module
        exec(code, module.__dict__)
    last = taken[name]
    try:
        last.main(take())
    except last.Program as program:
        job = program.job
    else:
        return
    taken["whileai.verify.sandbox.runner"].run_program(job)

def importer(taken, real):
    def load(name, scope=None, local=None, wanted=(), level=0):
        if not level and name in taken:
            return taken[name]
        if not level and wanted and all(name + "." + one in taken for one in wanted):
            return Bundle(taken, name, wanted)
        return real(name, scope, local, wanted, level)
    return load

class Bundle:
    def __init__(self, taken, name, wanted):
        for one in wanted:
            setattr(self, one, taken[name + "." + one])

start()
"""


@functools.cache
def parcel() -> bytes:
    """The compiled modules, in the order they need each other."""
    codes = []
    for name in INSIDE:
        spec = importlib.util.find_spec(name)
        source = spec.loader.get_data(spec.origin) if spec is not None and spec.origin else None  # type: ignore[union-attr]
        if source is None:
            raise RuntimeError(f"no source of {name}")
        # without docstrings and assertions: it is sent with every verdict
        codes.append((name, compile(source, f"<{name}>", "exec", dont_inherit=True, optimize=2)))
    return marshal.dumps(codes)


def sized(data: bytes) -> bytes:
    """A part of the job as the starter reads it."""
    return len(data).to_bytes(8, "big") + data
