# What one does with this project. Needed beforehand: python3 (3.11 or newer) with venv, git, make.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input

# Arguments of pytest, and of app.py: `make test ARGS="-k solver"`, `make run ARGS="--port 8000"`.
TEST_ARGS := -n auto --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help install run test lint format bench lock train-install train-smoke trainers ladder

help:  ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

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

bench: install .venv-bench/stamp  ## Run the benchmarks, one after the other
	@set -e; for script in benchmarks/bench_*.py; do \
		echo "== $$script"; \
		$(PY) -m "benchmarks.$$(basename "$$script" .py)" $(ARGS); \
	done

# What the engine is measured beside, apart from what the project needs. What cannot be installed
# is left out of the benchmark.
.venv-bench/stamp: benchmarks/requirements.txt | $(PY)
	@$(PYTHON) -m venv .venv-bench
	@sed '/^#/d' benchmarks/requirements.txt | while read -r package; do \
		.venv-bench/bin/python -m pip install --quiet "$$package" \
			|| echo "$$package could not be installed: left out"; \
	done
	@touch $@

# One thread that sleeps while it waits: of small networks, more threads make slower ones.
TRAIN_ENV := OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE
# Where runs lie, and the seed of the recipe: `make ladder RUNS=/somewhere SEED=1`.
RUNS := data/training
SEED := 0

train-install: $(VENV)/train.stamp  ## Install what training takes: torch

train-smoke: install $(VENV)/train.stamp  ## Train, export, serve and play a smaller checkpoint
	$(TRAIN_ENV) $(PY) -m pytest tests/models/training/test_smoke.py $(ARGS)

trainers: $(VENV)/run.stamp .venv-trainers/stamp  ## Let TRL's trainers read what the arena exports
	HF_HUB_OFFLINE=1 ARENA_PYTHON=$(abspath $(PY)) $(TRAIN_ENV) \
		.venv-trainers/bin/python -m pytest tests/trainers $(ARGS)

.venv-trainers/stamp: tests/trainers/requirements.txt constraints-train.txt
	@$(PYTHON) -m venv .venv-trainers
	.venv-trainers/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
		--constraint constraints-train.txt --requirement tests/trainers/requirements.txt
	@touch $@

ladder: $(VENV)/run.stamp $(VENV)/train.stamp  ## Train the shipped checkpoints anew, into RUNS
	@set -e; for stage in base sft rl1 rl2 rl3 memoriser; do \
		kind=$$(sed -n 's/^kind = "\(.*\)"/\1/p' models/ladder/$$stage.toml); \
		$(TRAIN_ENV) $(PY) -m cli train $$kind models/ladder/$$stage.toml \
			--runs $(RUNS) --seed $(SEED); \
		$(PY) -m cli train export models/ladder/$$stage.toml --runs $(RUNS) --seed $(SEED); \
	done

# The locks hold for every Python from 3.11 on and every platform. `make lock UPGRADE=1` takes
# the newest versions that pyproject.toml allows; without it only what must change does.
LOCK := $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)
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

$(VENV)/train.stamp: constraints-train.txt $(VENV)/run.stamp
	$(PIP) install --quiet --constraint constraints-train.txt torch gguf
	@touch $@
