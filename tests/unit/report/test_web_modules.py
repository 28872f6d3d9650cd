"""The scripts of a page, module by module, under node."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from whileai.pages import page

WEB = Path(page.__file__).parent / "web"


def test_modules_are_joined_in_an_order_that_works():
    for place, name in enumerate(page.MODULES):
        needed = re.findall(r'from "\./(\w+\.js)"', page.asset(name))
        assert set(needed) <= set(page.MODULES[:place]), name
    code = page.script()
    assert not re.search(r"^\s*(import|export)\b", code, re.MULTILINE)
    names = re.findall(r"^(?:async )?(?:function|const|class) (\w+)", code, re.MULTILINE)
    assert len(names) == len(set(names)), "two modules define one name"
    assert sorted(page.MODULES) == sorted(file.name for file in WEB.glob("*.js"))


def test_scripts_use_nothing_that_makes_markup_or_asks_a_network():
    banned = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|fetch\(|XMLHttp|Storage\b|cookie"
    )
    assert not re.search(banned, page.script())
    assert not re.search(r"url\(|@import|https?:", page.asset("page.css"))
    assert sum(len(page.asset(name).splitlines()) for name in page.MODULES) <= 700


def test_under_node(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    for name in page.MODULES:
        (tmp_path / name).write_text(page.asset(name), encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copy(Path(__file__).parent / "web_modules.mjs", tmp_path / "web_modules.test.mjs")
    done = subprocess.run([node, "--test"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout
    assert re.search(r"# pass [1-9]", done.stdout) or "pass" in done.stdout
