# The commands of the project. The environment in .venv is made once, and again when pyproject.toml changes.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

# Real data for the tests that use it: SPL_DATA if it is set, else a folder beside the checkout if there is one.
ifndef SPL_DATA
ifneq ($(wildcard ../shared/data/.),)
export SPL_DATA := $(abspath ../shared/data)
endif
else
export SPL_DATA
endif

# Bytecode is always kept: tests start many processes, and each would compile all of spl again.
unexport PYTHONDONTWRITEBYTECODE

# Tests run in one process per processor, so linear algebra has one thread in each. Each keeps a contiguous part of the tests, so that
# files share their fixtures.
export OPENBLAS_NUM_THREADS := 1
PARALLEL := --numprocesses=logical --maxprocesses=8 --dist=worksteal

.PHONY: help demo quick test browser check check-style check-types check-bounds check-uncompiled \
	check-versions compiled-kernels fuzz bench docs figures screenshots format clean

help:
	@echo "make demo     discover the Lorenz equations from noisy data"
	@echo "make quick    unit tests and a few small searches, under a minute, for every save"
	@echo "make test     run all tests, the examples in docstrings and the code of the documents"
	@echo "make check    what CI runs: format, lint, types, tests, kernels with bounds checks and without the compiler"
	@echo "make check-versions  quick tests with each supported Python and with the lowest versions of the dependencies"
	@echo "make browser  install a Chromium for the browser tests where there is none; make test and make check do"
	@echo "make fuzz     more than 10,000 cases of hostile input"
	@echo "make bench    measure speed and recovery"
	@echo "make docs     build the documentation: build/docs/index.html"
	@echo "make figures  draw the pictures of the documentation again"
	@echo "make screenshots  take the pictures of the studio again"
	@echo "make format   rewrite the sources in the project's format"
	@echo "make clean    delete the environment and all caches in this folder"

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed. Name one that you have: make PYTHON=python3.12"; exit 1; }
	@echo "Installing into .venv (once) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(STAMP)
	@$(BIN)/spl demo

quick: $(STAMP) compiled-kernels
	$(BIN)/python -m pytest $(PARALLEL) --quick

test: $(STAMP) browser compiled-kernels
	$(BIN)/python -m pytest $(PARALLEL)

# Where no browser can be had, this says so, and the browser tests are skipped.
browser: $(STAMP)
	@$(BIN)/python -m tests.browser.chromium

# First what runs in one process each, two at a time; then what uses all processors.
check: $(STAMP)
	$(MAKE) --jobs=2 --output-sync=target check-uncompiled check-types compiled-kernels check-style
	$(MAKE) check-bounds
	$(MAKE) test

check-style: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

check-types: $(STAMP)
	$(BIN)/mypy

# The tests of the kernels again: with bounds checks on, and with the compiler off.
check-bounds: $(STAMP)
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest $(PARALLEL) tests/kernels

check-uncompiled: $(STAMP)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest tests/kernels

# The kernels that most tests need, so that the processes of the tests do not all compile them at once.
compiled-kernels: $(STAMP)
	@$(BIN)/python -c "from spl.regression.warm_up import compile_once; compile_once(print)"

# The quick tests in one environment per supported Python, and in one with the lowest versions that pyproject.toml allows.
check-versions: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/python -m tests.check_versions $(PARALLEL) --quick

# Hostile input, drawn anew each time: SPL_FUZZ says how many times the cases of `make test`.
fuzz: $(STAMP)
	SPL_FUZZ=$${SPL_FUZZ:-6} $(BIN)/python -m pytest tests/fuzz

bench: $(STAMP)
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/spl bench trust --parts coverage --fresh
	$(BIN)/python -m benchmarks.report
	$(BIN)/spl bench nguyen --seeds 0-1 --fresh

docs: $(STAMP)
	$(BIN)/sphinx-build --fail-on-warning --quiet docs build/docs
	@echo "Open build/docs/index.html"

figures: $(STAMP)
	$(BIN)/python docs/figures/draw.py

screenshots: $(STAMP)
	$(BIN)/python -m docs.figures.screenshots

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
