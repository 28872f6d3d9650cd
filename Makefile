# Every target makes the environment it needs; a fresh machine needs Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
REAL := .venv-real
QUIET := --quiet --disable-pip-version-check

.PHONY: demo test test-real lint bench coverage printed docs web clean

demo: $(VENV)/.installed
	$(BIN)/python recipes/02-measure/public-benchmark/run.py

test: $(VENV)/.developed
	$(BIN)/python -m pytest -n 2 --dist loadfile

# Against llama.cpp's own server, which is compiled from source: needs gcc and cmake, the first time some minutes.
test-real: $(REAL)/.installed
	$(REAL)/bin/python -m pytest tests/real

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

# The scripts of the report page are one committed file, made of the modules in src/whileai/pages/web; needs node.
web: tools/web/node_modules
	npm --prefix tools/web run --silent build

tools/web/node_modules: tools/web/package-lock.json
	npm --prefix tools/web ci --no-fund --no-audit
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The stamps are newer than what they were made from, so a changed dependency installs again.
$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install $(QUIET) --editable .
	touch $@

$(VENV)/.developed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install $(QUIET) --editable '.[dev]'
	touch $@ $(VENV)/.installed

$(REAL)/.installed: pyproject.toml
	$(PYTHON) -m venv $(REAL)
	$(REAL)/bin/python -m pip install $(QUIET) --editable '.[openai]' 'llama-cpp-python[server]' gguf pytest sybil
	touch $@

clean:
	rm -rf $(VENV) $(REAL) build dist site .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
