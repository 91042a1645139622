PYTHON ?= python3
BIN := .venv/bin
# uv trusts its own list of authorities; where the network has another one, the system's list knows it.
INSTALL = $(BIN)/uv pip install --quiet --python .venv --compile-bytecode $(1) \
	|| $(BIN)/uv pip install --quiet --python .venv --compile-bytecode --system-certs $(1)

.PHONY: help demo serve test check format bench conformance lock clean

help: ## Show what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: .venv/runtime ## Serve a sample business to ask about (KAI_PORT changes the port)
	@KAI_DATA_DIR=$${KAI_DATA_DIR:-.kai} $(BIN)/kai demo

serve: .venv/runtime ## Serve the HTTP API
	@$(BIN)/kai serve

test: .venv/test check ## Run the checks and all tests
	@$(BIN)/pytest

check: .venv/test ## Lint, check formatting, types and the borders between packages
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: .venv/test ## Format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: .venv/test ## Measure the server with a scripted model
	@$(BIN)/python -m tests.bench.turns

conformance: .venv/test ## Hold the Typesense checkpointer to LangGraph's own suite
	@$(BIN)/python -m tests.integration.typesense.conformance

lock: .venv/uv ## Pin the requirements anew, with hashes and without addresses
	@$(BIN)/uv pip compile -q pyproject.toml --group build $(LOCK) -o requirements/runtime.txt
	@$(BIN)/uv pip compile -q pyproject.toml --all-extras --group build --group test \
		-c requirements/runtime.txt $(LOCK) -o requirements/test.txt
	@$(BIN)/uv pip compile -q requirements/uv.in $(LOCK) -o requirements/uv.txt

LOCK := --universal --python-version 3.11 --generate-hashes --upgrade --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links

clean: ## Remove the environment and the demo's data
	@rm -rf .venv .kai

# uv installs four times faster than pip, which is what a first start waits for.
.venv/uv: requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit("KAI needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	@echo "Setting up (about half a minute) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

.venv/runtime: .venv/uv requirements/runtime.txt pyproject.toml
	@$(call INSTALL,--require-hashes -r requirements/runtime.txt)
	@$(call INSTALL,--no-deps --no-build-isolation --editable .)
	@touch $@

.venv/test: .venv/uv requirements/test.txt pyproject.toml
	@$(call INSTALL,--require-hashes -r requirements/test.txt)
	@$(call INSTALL,--no-deps --no-build-isolation --editable .)
	@touch $@ .venv/runtime
