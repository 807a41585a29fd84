# `make demo` and `make test` do all the set-up that they need, on a machine with Python 3.11 or later and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
unexport PYTHONDONTWRITEBYTECODE # uv compiles no modules: the first process that imports one keeps what it compiled

.DEFAULT_GOAL := fast
.PHONY: fast test demo lint types imports docs coverage changelog hooks environments system-packages fix slow bench bench-peers mutation screenshots clean help

help: ## print this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(VENV)/.base: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "uv>=0.9,<0.14"
	scripts/install $(BIN)/python --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	scripts/install $(BIN)/python --constraint constraints.txt --editable ".[frames]" --group dev
	@touch $@

# mysqlclient is built here, which takes a compiler and the headers of the MariaDB client: without them MariaDB is not tested.
$(VENV)/.mariadb: $(VENV)/.dev
	@pkg-config --exists libmariadb 2>/dev/null \
	&& scripts/install $(BIN)/python --constraint constraints.txt "mysqlclient>=2.2,<3" \
	&& touch $@ \
	|| echo "mysqlclient cannot be built here (make system-packages): MariaDB is not tested."

demo: $(VENV)/.base ## make a hospital's data set, ask it a few questions, leave the files in ./demo
	$(BIN)/hedgerow demo --folder demo --force

lint: $(VENV)/.dev ## style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## mypy, strict
	$(BIN)/mypy

imports: $(VENV)/.dev ## import rules
	$(BIN)/lint-imports

SLOWER := ledger release/distributions error_bars/coverage session demo docs installed conformance backends audit real

fast: lint types imports ## style, types, import rules and the quick tests
	scripts/in-memory $(BIN)/pytest -q -n 2 -m "not slow" $(SLOWER:%=--ignore=tests/%)

docs: $(VENV)/.dev ## the site, in build/site; a broken link or anchor is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs --quiet build --strict

changelog: $(VENV)/.dev ## print the changelog section of the fragments in changelog.d
	@$(BIN)/towncrier build --draft --version next 2>/dev/null

hooks: $(VENV)/.dev ## let git check each commit and its message
	$(BIN)/pre-commit install

environments: $(VENV)/.dev ## environments for the plain install and for each extra, for tests of the wheel
	$(BIN)/python -m tests.installed.environments

system-packages: ## the Debian packages that tests of real servers need, where they may be installed
	scripts/system-packages

test: $(VENV)/.mariadb ## everything that must pass before a change lands
	$(MAKE) --jobs 2 --output-sync lint types imports docs environments
	scripts/in-memory $(BIN)/python -m pytest -q -n 2 -m "not slow" -p scripts.line_coverage --durations=20

coverage: $(VENV)/.dev ## the share of lines that the quick tests run
	scripts/in-memory $(BIN)/python -m pytest -q -n 2 -m "not slow" -p scripts.line_coverage $(SLOWER:%=--ignore=tests/%)

slow: $(VENV)/.dev $(VENV)/.mariadb ## coverage at scale and long simulations
	scripts/in-memory $(BIN)/pytest -q -n 2 -m slow

bench: $(VENV)/.dev ## time against the plain query, errors and coverage against the published numbers
	$(BIN)/python benchmarks/tpch.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/engines_postgres.py
	$(BIN)/python benchmarks/engines_spark.py --tpch 1
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/fixed_cost.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/ledger.py
	$(BIN)/python benchmarks/wire.py
	$(BIN)/python benchmarks/interval_cost.py
	$(BIN)/python benchmarks/median_speed.py
	$(BIN)/python benchmarks/quotients.py
	$(BIN)/python benchmarks/within.py
	$(BIN)/python benchmarks/moments.py
	$(BIN)/python benchmarks/quantiles.py
	$(BIN)/python benchmarks/auto_bounds.py
	$(BIN)/python benchmarks/ratios.py
	$(BIN)/python benchmarks/console.py

bench-peers: $(VENV)/.dev ## the same questions put to other systems; writes the tables of the pages
	$(BIN)/python benchmarks/peers/environments.py .cache/peers
	$(BIN)/python benchmarks/tpch.py --environments .cache/peers --pages

mutation: $(VENV)/.dev ## plant small faults in the privacy core: the tests must notice each
	$(BIN)/python -m scripts.mutation

screenshots: $(VENV)/.dev ## pictures of every page of the console, light and dark, at three widths, in build/screenshots
	$(BIN)/python scripts/screenshots.py

fix: $(VENV)/.dev ## let ruff fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove generated files
	rm -rf $(VENV) build dist demo .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
