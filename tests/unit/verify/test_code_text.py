"""Which part of a reply is the solution."""

from __future__ import annotations

import pytest

from whileai.verify.reading.code_text import blocks_of, only_function, solution_of

ADD = "def add(a, b):\n    return a + b\n"
DRAFT = "def add(a, b):\n    return a - b\n"
USE = "print(add(2, 3))\n"


def fenced(*parts):
    return "\n".join(f"Text.\n\n```{name}\n{code}```\n" for name, code in parts)


REPLIES = {
    "plain code": (ADD, ADD),
    "prose stays as it is": ("I cannot do that.", "I cannot do that."),
    "named": (fenced(("python", ADD)), ADD),
    "named in capitals with options": (fenced(('Python title="a.py"', ADD)), ADD),
    "named in braces": (fenced(("{.python}", ADD)), ADD),
    "unnamed": (fenced(("", ADD)), ADD),
    "tildes": (f"~~~py\n{ADD}~~~", ADD),
    "four marks around three": (f"````python\n{ADD}````", ADD),
    "never closed": (f"Here:\n```python\n{ADD}", ADD),
    "carriage returns": (fenced(("python", ADD)).replace("\n", "\r\n"), ADD),
    "shell and output left out": (fenced(("bash", "pip install x\n"), ("python", ADD), ("", "5\n")), ADD),
    "unnamed output after named code": (fenced(("python", ADD), ("", "add = 5\n")), ADD),
    "usage after the solution": (fenced(("python", ADD), ("python", USE)), ADD),
    "the corrected version": (fenced(("python", DRAFT), ("python", ADD)), ADD),
    "the correction before another function": (fenced(("python", ADD), ("python", "def other():\n    pass\n")), ADD),
    "in two parts": (fenced(("python", "import math\n"), ("python", "def add(a, b):\n    return math.fsum((a, b))\n")),
                     "import math\n\ndef add(a, b):\n    return math.fsum((a, b))\n"),
    "in a list": ("1. So:\n\n   ```python\n   def add(a, b):\n       return a + b\n   ```\n", ADD),
    "after thinking": (f"<think>\n```python\n{ADD}```\n</think>\n```python\n{DRAFT}```", DRAFT),
    "thinking alone": (f"```python\n{ADD}```\n</think>\n", ADD),
    "no Python in it": (fenced(("json", "{}\n")), fenced(("json", "{}\n"))),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "code"), REPLIES.values(), ids=REPLIES)
def test_the_solution_is_found(reply, code):
    assert solution_of(reply, ["add"]).strip() == code.strip()


DOCSTRING = (
    'def add(a, b):\n    """Add.\n\n{indent}```python\n{indent}add(1, 2)\n{indent}```\n    """\n    return a + b\n'
)


@pytest.mark.parametrize("indent", ["", "    "])
@pytest.mark.parametrize("wrap", ["{}", "```python\n{}```", "Text\n```\n{}```\nMore"])
def test_a_fence_in_a_docstring_ends_nothing(indent, wrap):
    code = DOCSTRING.format(indent=indent)
    assert solution_of(wrap.format(code), ["add"]).strip() == code.strip()


def test_a_program_is_the_last_block_that_reads_its_input():
    program = "print(int(input()) + 1)\n"
    reply = fenced(("python", "x = 0\n"), ("python", program), ("python", "print('example')\n"))
    assert solution_of(reply).strip() == program.strip()


PROMPT = 'def add(a, b):\n    """Add."""\n'


@pytest.mark.parametrize("body", ["    return a + b\n", "return a + b", "```python\n    return a + b\n```"])
def test_a_body_completes_its_prompt(body):
    code = solution_of(body, ["add"], "add", PROMPT)
    scope = {}
    exec(code, scope)
    assert scope["add"](2, 3) == 5


def test_a_whole_function_needs_no_prompt():
    assert solution_of(ADD, ["add"], "add", PROMPT) == ADD


def test_blocks_know_what_they_define_and_use():
    (block,) = blocks_of(fenced(("python", "import os\ndef f(x):\n    y = len(x)\n    return g(y, os)\n")))
    assert (block.language, block.defines, block.uses) == ("python", {"os", "f"}, {"g"})


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("def a(): pass\n", "a"),
        ("def helper(): pass\ndef a(): return helper()\n", "a"),
        ("def a(): pass\ndef b(): pass\n", None),
        ("x = 1\n", None),
    ],
)
def test_the_one_function(code, name):
    scope = {}
    exec(compile(code, "<this>", "exec"), scope)
    assert only_function(scope, "<this>") == name
