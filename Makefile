# Set-up is done once, in .venv, and again when what it is made from changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up
MODULES := vscode-extension/node_modules/.package-lock.json
C_SOURCES := tree-sitter-ptx/src/parser.c tree-sitter-ptx/src/scanner.c \
             tree-sitter-ptx/bindings/python/tree_sitter_ptx/binding.c

.DEFAULT_GOAL := help
.PHONY: help setup demo test parts lint types unit test-vscode grammar bench docs record-gpu clean

help: ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(STAMP) ## make .venv with everything that the project and its tests need

$(STAMP): pyproject.toml setup.py $(C_SOURCES)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: setup ## run ptx-lint on the examples
	$(BIN)/ptx-lint --exit-zero examples

test: ## everything that must pass: format, types and tests (in CI within 30 minutes)
	@$(MAKE) --no-print-directory --keep-going parts

parts: lint types unit test-vscode

lint: setup ## check the style of the code
	$(BIN)/ruff check .

types: setup ## check the types
	$(BIN)/pyright

unit: setup ## run the tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-vscode: setup ## check the VS Code extension, and try it in real VS Code (needs npm)
	@if command -v npm > /dev/null; then \
	  $(MAKE) --no-print-directory $(MODULES) && cd vscode-extension && npm test; \
	elif [ -n "$$CI" ]; then \
	  echo "npm is missing: the VS Code extension cannot be tested" >&2; exit 1; \
	else \
	  echo "npm is missing: the tests of the VS Code extension are left out"; \
	fi

$(MODULES): vscode-extension/package-lock.json
	cd vscode-extension && npm ci --no-audit --no-fund --loglevel=error
	touch $@

grammar: ## generate the C parser anew from grammar.js (needs the tree-sitter command)
	cd tree-sitter-ptx && tree-sitter generate

bench: setup ## time linting and the analyses
	$(BIN)/python -m benchmarks.lint
	$(BIN)/python -m benchmarks.analyses
	$(BIN)/python -m benchmarks.server
	$(BIN)/python -m benchmarks.edits
	$(BIN)/python -m benchmarks.tree
	$(BIN)/python -m benchmarks.executor
	$(BIN)/python -m benchmarks.hostile

docs: setup ## build the site in build/site (its pages on rules and instructions come from the code)
	$(BIN)/python -m mkdocs build --strict
	$(BIN)/ptx-lint man > build/ptx-lint.1
	for shell in bash zsh fish; do $(BIN)/ptx-lint completion $$shell > build/ptx-lint.$$shell; done

record-gpu: setup ## run tests/conformance on a CUDA GPU and record its answers
	$(BIN)/python -m tests.executor.record_gpu

clean: ## remove what was built
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
