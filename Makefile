# .venv is set up once, and again when the files that it is made from change.

PYTHON ?= python3
SEED ?= $(shell date +%s)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
STAMP := $(VENV)/.set-up
SETUP := setup
INSTALL := PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --editable
MODULES := vscode-extension/node_modules/.package-lock.json
C_SOURCES := tree-sitter-ptx/src/parser.c tree-sitter-ptx/src/scanner.c \
             tree-sitter-ptx/bindings/python/tree_sitter_ptx/binding.c \
             $(wildcard ptx_lsp/*/native/*.[ch])

unexport PYTHONDONTWRITEBYTECODE # else each process of the tests would compile all modules again

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast lint types unit test-long test-random editors test-vscode grammar bench docs dist pictures record-gpu clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(INSTALLED): pyproject.toml setup.py $(C_SOURCES)
	@echo "Setting up $(VENV) (once, about half a minute)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(INSTALL) .
	touch $@

setup: $(STAMP) ## create .venv with everything that the project and its tests need

$(STAMP): $(INSTALLED)
	@echo "Installing what the tests need (once, about a minute)"
	$(INSTALL) '.[dev]'
	touch $@

demo: $(INSTALLED) ## show what ptx-lsp does, on the examples
	@mkdir -p build
	@sh examples/demo.sh "$(CURDIR)/$(BIN)" build/demo.html

test: ## run all checks: style, types, tests, VS Code extension
	@$(PYTHON) -m tests.full

test-fast: setup ## run what concerns the changed files, in less than a minute
	$(BIN)/ruff check --quiet .
	$(BIN)/python -m tests.fast

lint: $(SETUP) ## check the code style
	$(BIN)/ruff check .

types: $(SETUP) ## check types
	$(BIN)/pyrefly check

unit: $(SETUP) ## run all tests in Python
	$(BIN)/python -m pytest -n 2 --dist worksteal -p tests.progress --junitxml build/tests.xml

test-long: setup ## run all tests in Python, with the many examples of random tests
	PTX_LSP_LONG=1 $(BIN)/python -m pytest -n 2 --dist worksteal -p tests.progress

test-random: setup ## run all tests in Python in a random order (SEED=N repeats one)
	$(BIN)/python -m pytest -n 2 --dist worksteal -p tests.progress --random-order-bucket=module --random-order-seed=$(SEED)

editors: ## install Emacs, Vim and tmux for their tests (Debian and Ubuntu, as root)
	@sh tests/server/editors/install.sh

test-vscode: $(SETUP) ## build the VS Code extension and test it in real VS Code (needs npm)
	@command -v npm > /dev/null || { echo "npm is missing: the VS Code extension cannot be tested" >&2; exit 1; }
	@$(MAKE) --no-print-directory $(MODULES)
	cd vscode-extension && npm test

$(MODULES): vscode-extension/package-lock.json
	cd vscode-extension && npm ci --no-audit --no-fund --loglevel=error
	touch $@

grammar: ## generate the C parser from grammar.js (needs the tree-sitter command)
	cd tree-sitter-ptx && tree-sitter generate

bench: setup ## run the benchmarks
	$(BIN)/python -m benchmarks.lint
	$(BIN)/python -m benchmarks.analyses
	$(BIN)/python -m benchmarks.server
	$(BIN)/python -m benchmarks.measuring
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.edits
	$(BIN)/python -m benchmarks.tree
	$(BIN)/python -m benchmarks.executor
	$(BIN)/python -m benchmarks.hostile

docs: setup ## build the documentation site in build/site
	$(BIN)/python -m mkdocs build --strict
	$(BIN)/ptx-lint man > build/ptx-lint.1
	for shell in bash zsh fish; do $(BIN)/ptx-lint completion $$shell > build/ptx-lint.$$shell; done

pictures: setup $(MODULES) ## make the pictures of the README (needs npm and Chromium)
	cd vscode-extension && bash test/e2e/setup.sh .code-server && npm run package && node --test test/e2e/tour.test.mjs
	for name in animation report_picture screenshot; do $(BIN)/python docs/$$name.py || exit 1; done

dist: $(INSTALLED) ## build the sdist, the wheel and a file that needs no pip, in dist/
	$(INSTALL) '.[dist]'
	$(BIN)/python distribution/build.py --self-contained

record-gpu: setup ## run tests/conformance on a CUDA GPU and record the results
	$(BIN)/python -m tests.executor.conformance.record_gpu

clean: ## remove build output
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
