"""The notebook of the docs runs, and shows what a notebook may show."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

NOTEBOOK = Path(__file__).parents[3] / "docs" / "notebook" / "first_look.ipynb"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each cell showed: a mapping of kinds, or printed text."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    import nbformat

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    here = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client and the kernel, which are not ours
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=here).execute()
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def test_results_show_themselves_in_html_markdown_and_text(outputs):
    shown = [output.data for output in outputs if output.output_type == "execute_result"]
    assert len(shown) == 3
    for data in shown:
        assert {"text/html", "text/markdown", "text/plain"} <= set(data)
        page = data["text/html"]
        assert len(page.encode()) < 12_000
        assert not re.search(r"<script|<style|\sid=|https?://(?!www\.w3\.org/2000/svg)", page)
    figures = re.findall(r"<svg.*?</svg>", "".join(data["text/html"] for data in shown), re.DOTALL)
    assert len(figures) == 3
    for figure in figures:
        root = ET.fromstring(figure)
        assert float(root.get("width")) <= 640
        assert float(root.get("height")) <= 220
        assert root.get("aria-label")


def test_print_and_html_have_the_same_digits(outputs):
    printed = next(output.text for output in outputs if output.output_type == "stream")
    verdict = printed.splitlines()[0]
    assert "pass@1" in verdict
    pages = [output.data["text/html"] for output in outputs if output.output_type == "execute_result"]
    assert any(verdict.replace("->", "-&gt;").replace("<", "&lt;") in page for page in pages)
