# nardy_rl: everything a person or CI runs. Each target makes its own environment, once.
#
#   make train                                 the default run: long nardy, then the arena table
#   make train variant=backgammon net=h150     any Hydra override, written as on the command line
#   make train ARGS="--multirun seed=1,2,3"    anything else for `nardy-rl train`
#   make test                                  what CI runs

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup train test smoke notebooks browser bench lint format clean

PYTHON ?= python3.11
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
ARGS   ?=
PYTEST ?= -n 2

# `make train a=1 b=2`: what make took for its own variables goes on as Hydra overrides.
OWN       := ARGS=% PYTHON=% PYTEST=% SHELL=% PAGES=%
OVERRIDES := $(filter-out $(OWN),$(MAKEOVERRIDES))
# The quotes keep [256,256] from the shell; a value with blanks or dollars goes through ARGS.
QUOTED    := $(foreach word,$(OVERRIDES),'$(word)')

help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# A stamp, remade only when the dependencies change, so that a second call starts at once.
$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) > /dev/null || { echo "error: $(PYTHON) not found; name a Python >= 3.11: make PYTHON=python3 ..." >&2; exit 2; }
	@echo "Installing into $(VENV) (once; a minute or two) ..."
	@$(BIN)/python -m pip --version > /dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) > /dev/null 2>&1 \
	  || { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install -qq pip; } # Debian without python3-venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@

setup: $(READY) ## make .venv, with every version of constraints.txt

train: $(READY) ## train by self-play, then play the baselines; overrides as in `make train variant=backgammon`
	@$(BIN)/nardy-rl train $(QUOTED) $(ARGS)

test: lint ## all checks: ruff, mypy, import-linter, pytest with doctests
	$(BIN)/python -m pytest $(PYTEST) $(ARGS)

smoke: $(READY) ## a short training of every variant, each of which has to beat random
	$(BIN)/python -m pytest $(PYTEST) -m smoke tests/test_smoke.py $(ARGS)

notebooks: $(READY) ## run the notebooks at the budget of the tests
	NARDY_RL_NOTEBOOK_BUDGET=small $(BIN)/python -m pytest $(PYTEST) notebooks $(ARGS)

PAGES ?= long_nardy backgammon plakoto mad_gyulbar

browser: $(READY) ## export pages and play them in headless Chromium; needs node, npm, chromium
	@tests/browser/run $(PAGES)

bench: $(READY) ## speed of rules, self-play and training on this machine
	@$(BIN)/nardy-rl bench $(QUOTED) $(ARGS)

lint: $(READY) ## ruff (lint and format), mypy, import-linter
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(READY) ## rewrite the sources as ruff wants them
	$(BIN)/ruff check --quiet --fix
	$(BIN)/ruff format --quiet

clean: ## remove the environment and every cache (not runs/)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find nardy_rl tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
