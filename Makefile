# What one does with this project. Needed beforehand: python3 (3.11 or newer) with venv, git, make.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input

# Arguments of pytest, and of app.py: `make test ARGS="-k solver"`, `make run ARGS="--port 8000"`.
TEST_ARGS := -n auto --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help install run test lint format bench lock

help:  ## Say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(VENV)/dev.stamp  ## Install everything, for developing too, into .venv

run: $(VENV)/run.stamp  ## Start the arena on http://localhost:7860
	$(PY) app.py $(ARGS)

test: install  ## Run the tests (brings a Chromium if there is none)
	$(PY) -m tests.browser.chromium
	$(PY) -m pytest $(or $(ARGS),$(TEST_ARGS))

lint: install  ## Check style, format and types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: install  ## Put imports and layout in order
	$(PY) -m ruff check --fix-only .
	$(PY) -m ruff format .

bench: install  ## Run the benchmarks, one after the other
	@set -e; for script in benchmarks/bench_*.py; do \
		[ -e "$$script" ] || { echo "There is no benchmark yet."; break; }; \
		echo "== $$script"; \
		$(PY) -m "benchmarks.$$(basename "$$script" .py)" $(ARGS); \
	done

# The locks hold for every Python from 3.11 on and every platform. `make lock UPGRADE=1` takes
# the newest versions that pyproject.toml allows; without it only what must change does.
LOCK := $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	$(if $(UPGRADE),--upgrade)
lock: install  ## Write the locks anew from pyproject.toml
	$(LOCK) pyproject.toml --group build --output-file requirements.lock
	$(LOCK) pyproject.toml --group build --group dev --constraint requirements.lock \
		--output-file requirements-dev.lock

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
		|| { rm -rf $(VENV); echo "venv is missing: apt-get install python3-venv"; exit 1; }

# What running needs, then the project itself, then what developing needs on top.
$(VENV)/run.stamp: requirements.lock pyproject.toml | $(PY)
	$(PIP) install --quiet --require-hashes --requirement requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: requirements-dev.lock $(VENV)/run.stamp
	$(PIP) install --quiet --require-hashes --requirement requirements-dev.lock
	@touch $@
