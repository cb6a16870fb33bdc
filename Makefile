# Everything here sets itself up: a fresh clone needs Python 3.11 or newer, make and the network, nothing else.
# `make check` and `make test` are what most people want; `make PYTHON=/path/to/python3.13 check` picks the interpreter.

PYTHON ?= python3
VENV ?= .venv
CHECK ?= langgraph --fail-on never

BIN := $(VENV)/bin
# Packages are compiled once at installation, so that no worker process pays for it: the variable would prevent that.
UV := env -u PYTHONDONTWRITEBYTECODE -u VIRTUAL_ENV $$(command -v uv || echo $(BIN)/uv)
INSTALL := $(UV) pip install --quiet --compile-bytecode --python $(BIN)/python

.DEFAULT_GOAL := help
.PHONY: help check test lint types layers soak bench prove docs matrix site locks clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-8s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The interpreter is part of the stamp's name, so that another PYTHON makes the environment anew.
IDENTITY := $(shell $(PYTHON) -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
ENVIRONMENT := $(VENV)/.python-$(IDENTITY)
RUN := $(VENV)/.run-$(IDENTITY)
DEVELOP := $(VENV)/.develop-$(IDENTITY)
SITE := $(VENV)/.site-$(IDENTITY)

$(ENVIRONMENT):
	$(if $(IDENTITY),,$(error $(PYTHON) is no Python interpreter: set PYTHON))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: set PYTHON")'
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	command -v uv > /dev/null || $(BIN)/python -m pip install --quiet uv
	touch $@

$(RUN): pyproject.toml | $(ENVIRONMENT)
	$(INSTALL) -e '.[langgraph]'
	touch $@

$(DEVELOP): pyproject.toml | $(ENVIRONMENT)
	$(INSTALL) -e '.[langgraph]' --group dev
	touch $(RUN) $@

check: $(RUN) ## measure LangGraph against the contract, and print the matrix
	$(BIN)/resumption check $(CHECK)

$(SITE): $(DEVELOP)
	$(INSTALL) --group docs
	touch $@

test: $(DEVELOP) ## run the tests
	$(BIN)/python -m pytest -n auto -m "not slow"

soak: $(DEVELOP) ## run the long sweeps, which the tests leave out
	$(BIN)/python -m pytest -n auto -m slow

lint: $(DEVELOP) ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEVELOP) ## check types: mypy strictly, pyright on the public surface
	$(BIN)/mypy
	$(BIN)/mypy --strict tests/typing
	$(BIN)/pyright --pythonpath $(BIN)/python tests/typing

layers: $(DEVELOP) ## check that imports point one way
	$(BIN)/lint-imports

bench: $(DEVELOP) ## measure the harness, the model and the ledger
	for benchmark in benchmarks/*.py; do echo "== $$benchmark"; $(BIN)/python $$benchmark || exit; done

prove: $(DEVELOP) ## prove the model, and the decision functions as they ship
	$(BIN)/resumption model prove
	$(BIN)/python -m proof

docs: $(DEVELOP) ## write the pages that are made from data
	$(BIN)/python scripts/pages.py

site: $(SITE) ## build the documentation's site, into build/site
	$(BIN)/zensical build --strict --clean

matrix: $(RUN) ## measure every framework, and write the published matrix
	$(BIN)/python scripts/matrix.py

locks: $(DEVELOP) ## resolve the locks of the frameworks' releases again
	$(BIN)/python scripts/locks.py

clean: ## remove the environment and every cache
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
