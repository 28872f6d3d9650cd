"""The scripts of a page: the committed bundle, and the modules it is made of under node."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from whileai.pages import page

ROOT = Path(__file__).parents[3]
WEB, TOOLS = Path(page.__file__).parent / "web", ROOT / "tools" / "web"


@pytest.fixture(scope="module")
def node():
    """Node beside the packages that the lock file names."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    if not (TOOLS / "node_modules" / "esbuild").is_dir():
        pytest.skip("esbuild and diff are not installed: `make web` installs them")
    return found


def test_the_bundle_is_that_of_the_modules(node, tmp_path):
    made = tmp_path / "report.js"
    done = subprocess.run([node, TOOLS / "build.mjs", made], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert made.read_bytes() == page.asset("report.js").encode(), "modules changed: run `make web`"


def test_modules_under_node(node, tmp_path):
    for file in WEB.glob("*.js"):
        shutil.copy(file, tmp_path)
    (tmp_path / "node_modules").symlink_to(TOOLS / "node_modules")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copy(Path(__file__).parent / "web_modules.mjs", tmp_path / "web_modules.test.mjs")
    command = [node, "--test", "--test-reporter=tap"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"^# pass (\d+)", done.stdout, re.MULTILINE)[1]) >= 8


def test_scripts_use_nothing_that_makes_markup_or_asks_a_network():
    banned = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|fetch\(|XMLHttp|Storage\b|"
        r"cookie|</script"
    )
    assert not re.search(banned, page.asset("report.js"))
    assert not re.search(r"url\(|@import|https?:|</style", page.asset("page.css"))
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in WEB.glob("*.js")) <= 700


def test_whose_code_is_bundled_is_said_in_the_bundle_and_in_the_notice():
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    licence = notice[notice.index("BSD 3-Clause") :].strip()
    assert licence in page.asset("report.js")
    locked = json.loads((TOOLS / "package-lock.json").read_text(encoding="utf-8"))
    wanted = json.loads((TOOLS / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    assert {name: locked["packages"][f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert "resolved" not in json.dumps(locked), "the lock file names a registry"
