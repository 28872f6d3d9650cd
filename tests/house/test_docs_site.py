"""The docs site: it builds without a warning, its links lead somewhere, and nothing in it is stale."""

from __future__ import annotations

import ast
import functools
import html.parser
import http.server
import inspect
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import whileai

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SOURCES = ("docs", "recipes", "mkdocs.yml", "CHANGELOG.md", "pyproject.toml")
#: What a console block may show that is no command of ours: it runs in other tests, or is another tool's.
OTHER_COMMANDS = re.compile(
    r"make (\w+)|python (recipes/\S+\.py)( .*)?|pip install \.|pytest --wai-update-baseline|lm_eval .*"
)
BLOCK = re.compile(r"^ *```([^\n]*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


def copied(folder):
    """The sources of the site in a folder of their own; the package is linked."""
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    (folder / "src").symlink_to(ROOT / "src")
    return folder


def generate(root, *args):
    command = [sys.executable, str(ROOT / "tools" / "site" / "generate.py"), "--root", str(root), *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def pages():
    return sorted(file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.md"))


def test_figures_and_generated_pages_are_what_the_code_makes_of_them_now():
    done = generate(ROOT, "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), "make docs writes them anew"


def test_a_stale_figure_page_and_leftover_are_found_and_mended(tmp_path):
    copied(tmp_path)
    page = tmp_path / "docs" / "calls" / "pass_at.md"
    page.write_text(page.read_text("utf-8").replace("for i in range(40)", "for i in range(36)"), "utf-8")
    (tmp_path / "docs" / "api" / "measure.md").write_text("# by hand\n", "utf-8")
    (tmp_path / "docs" / "figures" / "gone.svg").write_text("<svg/>", "utf-8")
    done = generate(tmp_path, "--check")
    assert (done.returncode, done.stderr) == (1, "")
    assert set(done.stdout.split("\n")) == {
        "stale: docs/figures/pass_at.svg",
        "stale: docs/api/measure.md",
        "stale: docs/figures/gone.svg",
        "",
    }
    assert generate(tmp_path).returncode == 0
    assert generate(tmp_path, "--check").returncode == 0


def test_every_page_is_in_the_navigation_once():
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with the extra docs")

    def listed(entry):
        if isinstance(entry, str):
            yield entry
        else:
            for part in entry if isinstance(entry, list) else entry.values():
                yield from listed(part)

    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
    assert sorted(listed(nav)) == pages()


def test_every_public_name_is_spoken_of_on_a_page_and_listed_in_the_api():
    by_hand = "\n".join((DOCS / page).read_text("utf-8") for page in pages() if not page.startswith("api/"))
    listed = "\n".join((DOCS / page).read_text("utf-8") for page in pages() if page.startswith("api/"))
    for name in whileai._HOMES:
        assert re.search(rf"\bwai\.{name}\b|`{name}`", by_hand), f"no page speaks of wai.{name}"
        assert re.search(rf"heading: wai\.{name}$", listed, re.MULTILINE), name


WRITTEN = [ROOT / "README.md", *(DOCS / page for page in pages()), *sorted(ROOT.glob("recipes/*/*/README.md"))]
#: Blocks that are no code: trees of files and the like. What else is not run must be named here.
NOT_RUN = {
    "docs/ci.md": {"yaml"},  # read by tests of the page
    "docs/pytest.md": {""},  # compared with the failure itself
    "docs/cli.md": {"toml"},
    "recipes/02-measure/rl-selection-to-trl/README.md": {"py"},  # needs TRL and a model to train
}


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_every_block_on_a_page_is_run(file):
    """Python and the `wai` commands of README and docs run by themselves, in a folder of the page: see conftest.py."""
    name = file.relative_to(ROOT).as_posix()
    is_drawing = name.startswith("docs/design/")
    is_recipe = name.startswith(("docs/recipes/", "recipes/"))
    for kind, block in BLOCK.findall(file.read_text("utf-8")):
        if kind == "console":
            for command in re.findall(r"^\$ (.*?)(?: +# .*)?$", block, re.MULTILINE):
                known = OTHER_COMMANDS.fullmatch(command)
                assert known or re.match(r"([A-Z_]+=\S+ )*wai ", command), f"{name}: nothing runs $ {command}"
                if known and known[1]:
                    assert re.search(rf"^{known[1]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE), command
                if known and known[2]:
                    assert (ROOT / known[2]).is_file(), command
        elif not (is_drawing and kind == "") and not (is_recipe and kind.startswith("py title=")):
            assert kind in {"python", "text", *NOT_RUN.get(name, ())}, f"{name}: nothing runs a block of {kind!r}"


def test_every_call_has_a_page_with_its_signature_and_what_it_needs():
    for page in sorted(DOCS.glob("calls/*.md")):
        text = page.read_text("utf-8")
        assert re.match(r"# [\w, ]+: \S", text), f"{page.name}: the title asks the question"
        assert "```text" in text, f"{page.name}: nothing is printed"
        assert re.search(r"When it misleads|What it does not protect against", text), page.name
        assert re.search(r"On the command line|There is no command for it", text), f"{page.name}: no twin"
        head = text.split("```")[0].replace("\n", " ")
        for path, given in re.findall(r"`wai\.([\w.]+)\((.*?)\)(?: -> [^`]*)?`", head):
            call = whileai
            for part in path.split("."):
                call = getattr(call, part)
            wanted = [
                ("**" if one.kind is one.VAR_KEYWORD else "*" if one.kind is one.VAR_POSITIONAL else "") + one.name
                for one in inspect.signature(call).parameters.values()
            ]
            tree = ast.parse(f"def call({given}): pass").body[0].args
            named = [one.arg for one in [*tree.args, *tree.kwonlyargs]]
            named += [f"*{tree.vararg.arg}"] if tree.vararg else []
            named += [f"**{tree.kwarg.arg}"] if tree.kwarg else []
            assert sorted(named) == sorted(wanted), f"{page.name}: {path}"


@pytest.mark.parametrize(
    "file", ["README.md", "CONTRIBUTING.md", *(str(f.relative_to(ROOT)) for f in ROOT.glob("recipes/*/*/README.md"))]
)
def test_links_outside_the_site_lead_to_files(file):
    text = re.sub(r"^```.*?^```", "", (ROOT / file).read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if not urlsplit(link).scheme:
            assert ((ROOT / file).parent / urlsplit(link).path).exists(), f"{file}: {link}"


class Links(html.parser.HTMLParser):
    """What a built page points to, what can be pointed to in it, and what it loads."""

    def __init__(self):
        super().__init__()
        self.links, self.ids, self.loads = [], set(), []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in {"img", "script", "source", "iframe"} and found.get("src"):
            self.loads.append(found["src"])
        if tag == "link" and found.get("rel") in {"stylesheet", "icon", "preload"}:
            self.loads.append(found["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as it is built, page by page."""
    pytest.importorskip("zensical", reason="the extra docs is not installed")
    folder = copied(tmp_path_factory.mktemp("site"))
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--strict", "--clean"]
    env = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "warning" not in said.lower(), said
    found = {}
    for file in (folder / "site").rglob("*.html"):
        parsed = Links()
        parsed.feed(file.read_text("utf-8"))
        found[file.relative_to(folder / "site").as_posix()] = parsed
    return folder / "site", found


def test_the_site_has_every_page_and_each_link_of_it_leads_somewhere(site):
    root, found = site
    assert {page.removesuffix(".md") + ".html" for page in pages()} <= set(found)
    broken = []
    for page, parsed in found.items():
        if page == "404.html":  # is served at any depth
            continue
        for link in parsed.links + parsed.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = unquote(parts.path)
            target = Path(os.path.normpath(root / page / ".." / path)) if path else root / page
            name = target.relative_to(root).as_posix() if target.is_relative_to(root) else None
            if target.is_dir():
                continue
            if (
                name is None
                or not target.is_file()
                or (parts.fragment and name in found and unquote(parts.fragment) not in found[name].ids)
            ):
                broken.append((page, link))
    assert not broken


def test_the_site_asks_no_other_host_for_anything(site):
    _, found = site
    assert [(page, load) for page, parsed in found.items() for load in parsed.loads if urlsplit(load).netloc] == []


def test_the_api_holds_the_docstrings(site):
    root, _ = site
    text = (root / "api" / "measure.html").read_text("utf-8")
    for words in ("wai.pass_at", "must_not_regress", "ParamError", "Comparison"):
        assert words in text
    assert ":::" not in re.sub(r"<[^>]+>", "", text)


class Silent(http.server.SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    def log_message(self, *_):
        pass


def test_the_search_finds_a_call(site):
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = os.environ.get("WHILEAI_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium here; WHILEAI_CHROMIUM names one")
    root, _ = site
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}/"
    asked, said = [], []
    try:
        with sync_api.sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page()
            page.on("request", lambda request: asked.append(request.url))
            page.on("console", lambda message: said.append(message.text))
            page.goto(f"{home}index.html")
            page.locator("button.md-search__button").click()
            page.get_by_placeholder("Search").first.fill("pass_at")
            found = page.locator("a[href*='calls/pass_at.html'] mark").first
            found.wait_for(timeout=10_000)
            browser.close()
    finally:
        server.shutdown()
        server.server_close()
    assert said == []
    assert [url for url in asked if not url.startswith((home, "data:", "blob:"))] == []
