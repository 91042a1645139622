PYTHON ?= python3
BIN := .venv/bin
# Most tests wait for processes that they start, so more of them than cores keep the cores busy.
TESTS_AT_ONCE ?= 4
# uv trusts its own list of authorities; where the network has another one, the system's list knows it. What
# fails with both is said by the second.
COMPILED = --compile-bytecode
INSTALL = $(BIN)/uv pip install --quiet --python .venv $(COMPILED) $(1) 2>/dev/null \
	|| $(BIN)/uv pip install --quiet --python .venv $(COMPILED) --system-certs $(1)

# Images of Python often forbid compiled files; without them each process compiles the application again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo serve ui test check check-python check-page compiled-tests format screenshots streams wire charts client description bench bench-compare profile bench-turns bench-scale bench-policies bench-protocols bench-steps \
	bench-checkpointers bench-store-client bench-listing bench-figures bench-references policies simulate simulate-mutations conformance dist lock clean

help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 24

demo: .venv/runtime ## Serve a sample business to ask about (KAI_PORT changes the port)
	@$(MAKE) --no-print-directory ui || echo "KAI starts without its page."
	@KAI_DATA_DIR=$${KAI_DATA_DIR:-.kai} $(BIN)/kai demo

serve: .venv/runtime ## Serve the HTTP API, and the page if it is built
	@$(BIN)/kai serve

ui: .venv/node ## Build the chat page, if its sources have changed
	@$(BIN)/python ui/build.py build

test: .venv/test .venv/node ## Run the checks and all tests (TESTS_AT_ONCE files at a time)
	@$(MAKE) --no-print-directory --jobs=3 check-python check-page compiled-tests
	@$(MAKE) --no-print-directory ui
	@$(BIN)/pytest -n $(TESTS_AT_ONCE) --dist loadfile --no-loadscope-reorder

check: .venv/test .venv/node ## Lint, check formatting, types and the borders between packages, and the page
	@$(MAKE) --no-print-directory --jobs=2 check-python check-page

check-python:
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy ui
	@$(BIN)/lint-imports

check-page:
	@$(BIN)/python ui/build.py check

# Workers that begin without compiled tests compile all of them, each for itself. They report what fails here.
compiled-tests:
	@$(BIN)/pytest --collect-only --quiet --quiet >/dev/null || true

format: .venv/test ## Format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@cd ui && npm run format

streams: .venv/test ## Record the streams that the page is tested with again
	@$(BIN)/python -m tests.support.golden_streams
	@$(MAKE) --no-print-directory wire

wire: .venv/test ## Record what other programs read of KAI, and the forms of what it stores, again
	@$(BIN)/python -m tests.support.wire

charts: .venv/test ## Record what the charts of the kinds of results draw again
	@$(BIN)/python -m tests.unit.analysis.charts.structure

client: .venv/test ## Write the models of the client from the description of the API again
	@$(BIN)/python -m tests.support.client_schema

description: .venv/test ## Keep the description of the API as that of a release, which later ones may only add to
	@$(BIN)/python -m tests.support.api_breaks

screenshots: .venv/test ui ## Take the screenshots of the documents again
	@$(BIN)/python -m tests.e2e.page.screenshots

bench: .venv/test ## Measure KAI's own time beside its limits, and write docs/performance.md (SAVE=FILE keeps the figures)
	@$(BIN)/python -m tests.bench.own_time --many --page $(if $(SAVE),--save $(SAVE))

bench-compare: .venv/test ## Compare two saved runs of make bench: OLD=FILE NEW=FILE
	@$(BIN)/python -m tests.bench.own_time --compare $(OLD) $(NEW)

profile: .venv/test ## Show the processor time of a turn by layer
	@$(BIN)/python -m tests.bench.own_time.profile

bench-turns: .venv/test ## Measure turns of one process at several loads, and memory
	@$(BIN)/python -m tests.bench.turns

bench-scale: .venv/test ## Measure what NATS, more workers and a thousand streams cost (eight minutes)
	@$(BIN)/python -m tests.bench.scale

bench-protocols: .venv/test ## Measure protocols beside LangGraph's own server, and write docs/performance.md (five minutes)
	@$(BIN)/python -m tests.bench.protocols --page

bench-steps: .venv/test ## Measure steps of investigations beside LangChain's create_agent, and write docs/performance.md
	@$(BIN)/python -m tests.bench.agent_loop --page

bench-checkpointers: .venv/test ## Measure checkpointers side by side
	@$(BIN)/python -m tests.bench.checkpointers

bench-store-client: .venv/test ## Measure what a request to Typesense costs in CPU
	@$(BIN)/python -m tests.bench.store_client

bench-figures: .venv/test ## Measure the figures of ten thousand rows of sixty columns
	@$(BIN)/python -m tests.bench.figures

bench-references: .venv/test ## Show which statements are chosen for results of many shapes
	@$(BIN)/python -m tests.bench.references

bench-listing: .venv/test ## Measure lists of up to a million sessions
	@$(BIN)/python -m tests.bench.listing

simulate: .venv/test ## Simulate the run engine with faults (SEEDS of them, from START on)
	@$(BIN)/python -m tests.simulation --seeds $(or $(SEEDS),10000) --start $(or $(START),0)

policies: .venv/test ## Compare statements made by chance (STATEMENTS for each database, from SEED on), and the corpus of ClickHouse, with copies of the data; CHOSEN=by_chance leaves the corpus out
	POLICY_STATEMENTS=$(or $(STATEMENTS),1000) POLICY_SEED=$(SEED) $(BIN)/python -m pytest -q -n 2 -k "$(or $(CHOSEN),by_chance or clickhouse)" tests/integration/database_connection/test_policies.py

bench-policies: .venv/test ## Measure what policies cost a statement, and how many statements need a barrier
	@$(BIN)/python -m tests.bench.policies

simulate-mutations: .venv/test ## Show that the simulation finds each of the defects put in by hand
	@$(BIN)/python -m tests.simulation.mutations

conformance: .venv/test ## Run LangGraph's conformance suite on the Typesense checkpointer
	@$(BIN)/python -m tests.integration.typesense.conformance

dist: .venv/node ## Build wheels and source distributions of KAI and of the packages beside it, in dist/
	@for package in . kai_analyst_client kai_analyst_tasks typesense_checkpoint; do \
		(cd $$package && $(CURDIR)/$(BIN)/python -m hatchling build -d $(CURDIR)/dist) || exit 1; done

lock: .venv/uv ## Pin the requirements again, with hashes and without addresses
	@$(BIN)/uv pip compile -q pyproject.toml --group build -c requirements/constraints.in $(LOCK) \
		-o requirements/runtime.txt
	@$(BIN)/uv pip compile -q pyproject.toml --all-extras --group build --group test \
		-c requirements/runtime.txt $(LOCK) -o requirements/test.txt
	@$(BIN)/uv pip compile -q pyproject.toml --extra warehouses -c requirements/test.txt $(LOCK) \
		$$(sed -n 's/^\([a-z0-9.-]*\)==.*/--no-emit-package \1/p' requirements/runtime.txt) \
		-o requirements/warehouses.txt
	@$(BIN)/uv pip compile -q requirements/uv.in $(LOCK) -o requirements/uv.txt
	@$(BIN)/uv pip compile -q requirements/node.in $(LOCK) -o requirements/node.txt
	@$(BIN)/uv pip compile -q requirements/generators.in $(LOCK) -o requirements/generators.txt
	@$(BIN)/uv pip compile -q requirements/fakesnow.in $(LOCK) -o requirements/fakesnow.txt

LOCK := --universal --python-version 3.11 --generate-hashes --upgrade --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links

clean: ## Remove the environment, the built page and the demo's data
	@rm -rf .venv .kai app/web/static ui/node_modules

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

# The page is built by the machine's own Node, or by one from PyPI where there is none that is new enough.
.venv/node: .venv/runtime requirements/node.txt
	@$(BIN)/python ui/build.py node || { $(call INSTALL,--require-hashes -r requirements/node.txt); }
	@touch $@

# Tests compile the modules that they import, a quarter of all.
.venv/test: COMPILED =
.venv/test: .venv/uv requirements/test.txt pyproject.toml
	@$(call INSTALL,--require-hashes -r requirements/test.txt)
	@$(call INSTALL,--no-deps --no-build-isolation --editable .)
	@touch $@ .venv/runtime
