# Every target makes the environment it needs; a fresh machine needs Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUIET := --quiet --disable-pip-version-check

.PHONY: demo test lint bench coverage printed docs clean

demo: $(VENV)/.installed
	$(BIN)/python recipes/02-measure/public-benchmark/run.py

test: $(VENV)/.developed
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(VENV)/.developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.developed
	$(BIN)/python benchmarks/run.py

coverage: $(VENV)/.developed
	$(BIN)/python tests/coverage/grid.py

printed: $(VENV)/.developed
	WHILEAI_WRITE_PRINTED=1 $(BIN)/python -m pytest tests/printed tests/unit/cli/test_cli.py -k "printed or page" -q

# Figures and generated pages are committed; whatever changed is written anew before the site is built into site/.
docs: $(VENV)/.developed
	$(BIN)/python tools/site/generate.py
	$(BIN)/zensical build --strict --clean

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The stamps are newer than what they were made from, so a changed dependency installs again.
$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install $(QUIET) --editable .
	touch $@

$(VENV)/.developed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install $(QUIET) --editable '.[dev]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist site .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
