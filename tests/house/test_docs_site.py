"""The docs site: it builds without a warning, its links lead somewhere, and nothing in it is stale."""

from __future__ import annotations

import html.parser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import whileai

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SOURCES = ("docs", "recipes", "mkdocs.yml", "CHANGELOG.md", "pyproject.toml")
#: Pages whose commands run elsewhere: in a test of their own, or as the call that the page is about.
RUN_ELSEWHERE = {"cli.md", "calls/self_check.md"}


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


def test_commands_on_the_pages_are_run():
    for page in set(pages()) - RUN_ELSEWHERE:
        text = (DOCS / page).read_text("utf-8")
        blocks = re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        if any(re.search(r"^\$ wai ", block, re.MULTILINE) for block in blocks):
            assert re.search(r"^folder = ", text, re.MULTILINE), (
                f"{page} shows wai commands and no folder to run them in"
            )


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
