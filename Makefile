# `make` alone lists what there is.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := .cache/peers

# uv does not read pip's configuration, so it is told where pip would look.
AS_PIP = index=$${PIP_INDEX_URL:-$$($(BIN)/pip config get global.index-url 2>/dev/null)}; \
	[ -z "$$index" ] || export UV_DEFAULT_INDEX="$$index"; \
	[ -z "$${PIP_CERT:-}" ] || export SSL_CERT_FILE="$$PIP_CERT"

LIVEKIT := github.com/livekit/livekit-server
LIVEKIT_VERSION := v1.13.5
OASDIFF := github.com/oasdiff/oasdiff
OASDIFF_VERSION := v1.38.0
KUSTOMIZE := sigs.k8s.io/kustomize/kustomize/v5
KUSTOMIZE_VERSION := v5.6.0

.DEFAULT_GOAL := help
.PHONY: help setup demo run test check smoke images eval eval-quick eval-mutants eval-retrieval bench bench-quick \
        bench-ingest call-latency load pictures peers lock lock-images lock-peers livekit-server oasdiff kustomize redis-server \
        chromium clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## the virtual environment, with every package at its pinned hash

demo: setup ## a spoken call, answered from knowledge: everything it needs is set up and shown
	@$(MAKE) --no-print-directory livekit-server || echo "Going on without a LiveKit server of our own."
	@$(BIN)/python -m demo

run: setup ## keep the sidecar and its jobs up, and the worker when LIVEKIT_URL is set
	@$(BIN)/python -m demo run

test: setup livekit-server oasdiff kustomize redis-server chromium ## all tests; those that lack a tool are named at the end
	@$(BIN)/python -m pytest

check: setup oasdiff kustomize ## lint, format, types, imports, contract, dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m contracts generate --check
	$(BIN)/python -m contracts check
	$(BIN)/python -m deploy.env_files --check
	$(BIN)/python -m deploy.watch --check
	$(BIN)/python -m pytest -q tests/unit/test_house_rules.py tests/unit/test_dependencies.py tests/unit/deploy

smoke: setup ## try out a running sidecar: make smoke URL=http://127.0.0.1:8090 TOKEN_FILE=smoke.token
	@$(BIN)/python -m deploy.smoke $(URL) --token-file $(TOKEN_FILE)

images: setup ## do what the images' builds do, without Docker, and look at what comes of it
	@$(BIN)/python -m deploy.images.prove worker
	@$(BIN)/python -m deploy.images.prove sidecar

eval: setup livekit-server ## all evaluations against their gates (EVAL_K runs a case), to build/eval/report.html
	@$(BIN)/python -m tests.evals

eval-quick: setup ## a part of them, in some minutes, for CI
	@$(BIN)/python -m tests.evals --quick

eval-mutants: setup ## builds that are broken on purpose, and the bench that catches each
	@$(BIN)/python -m tests.evals.mutants

eval-retrieval: setup ## recall and refusal, on the sample and ../shared/data, to build/eval/retrieval.json
	@$(BIN)/python -m tests.evals.retrieval

bench: setup peers ## latency, recall, memory, other stores: a million passages, to build/bench/search.json
	@$(BIN)/python -m tests.bench

bench-quick: setup ## the same on small data, some minutes; fails for what is wrong, never for what is slow
	@$(BIN)/python -m tests.bench --plan quick --strict correctness --no-peers

bench-ingest: setup ## how fast knowledge comes in, and in how much memory, to build/bench/ingest.json
	@$(BIN)/python -m tests.bench.ingest

call-latency: setup livekit-server ## what a caller waits for, with and without searching ahead, to build/bench/call.json
	@$(BIN)/python -m tests.bench.call

load: setup ## 200 calls on one sidecar for ten minutes, then as many as it holds, to build/bench/load.json
	@$(BIN)/python -m tests.bench.load

pictures: setup ## draw docs/pictures and the measured tables again, from what was measured last
	@$(BIN)/python -m tests.bench.pictures --take

peers: $(PEERS)/.ready ## the stores that `make bench` compares with, in an environment of their own

lock: setup ## resolve constraints.txt again (UPGRADE=--upgrade takes the newest of everything)
	@$(AS_PIP); \
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --generate-hashes \
	    --no-emit-index-url --no-header --no-annotate $(UPGRADE) --output-file constraints.txt >/dev/null
	@$(MAKE) --no-print-directory lock-images
	@echo "constraints.txt is resolved."

# The parts of constraints.txt that each image installs: an image's pip has to be given no more than that.
lock-images: setup
	@$(AS_PIP); part() { \
	    file=deploy/images/$$1.txt; shift; \
	    $(BIN)/uv pip compile pyproject.toml "$$@" --constraint constraints.txt --universal --generate-hashes \
	        --no-emit-index-url --no-header --no-annotate --output-file $$file >/dev/null; \
	}; \
	part build --extra images && \
	part worker --extra worker && \
	part sidecar --extra sidecar --extra ingest --extra embedder

lock-peers: setup ## the same for constraints-peers.txt, the stores of `make bench`
	@$(AS_PIP); \
	$(BIN)/uv pip compile pyproject.toml --extra peers --universal --generate-hashes \
	    --no-emit-index-url --no-header --no-annotate $(UPGRADE) --output-file constraints-peers.txt >/dev/null
	@echo "constraints-peers.txt is resolved."

livekit-server: ## the LiveKit server, built by Go into .cache/bin
	@.ci/go-tool $@ $(LIVEKIT) $(LIVEKIT)/cmd/server $(LIVEKIT_VERSION)

oasdiff: ## the program that finds breaking changes of the contract, built by Go into .cache/bin
	@.ci/go-tool $@ $(OASDIFF) $(OASDIFF) $(OASDIFF_VERSION)

kustomize: ## the program that puts Kubernetes manifests together, built by Go into .cache/bin
	@.ci/go-tool $@ $(KUSTOMIZE) $(KUSTOMIZE) $(KUSTOMIZE_VERSION)

redis-server: ## a Redis server, from Debian's package where that can be installed
	@.ci/redis

chromium: ## a browser for the tests of the console, from Debian's package where that can be installed
	@.ci/chromium

clean: ## remove all that was made here: environment, caches, the demo's database and recordings
	rm -rf $(VENV) .cache build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "error: Python 3.11 or later is needed; name one: make setup PYTHON=python3.11" >&2; exit 1; }
	@[ -x $(BIN)/python ] || { echo "Making $(VENV) ..."; $(PYTHON) -m venv $(VENV); }
	@echo "Installing the packages of constraints.txt (some minutes the first time) ..."
	@$(BIN)/python -m pip install --require-hashes --requirement constraints.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# By uv: pip takes the hashes of a package with an extra for missing. Without these stores the bench names them as skipped.
$(PEERS)/.ready: constraints-peers.txt | $(READY)
	@echo "Installing the other stores into $(PEERS) (some minutes the first time) ..."
	@$(AS_PIP); \
	{ [ -x $(PEERS)/bin/python ] || $(PYTHON) -m venv $(PEERS); } && \
	$(BIN)/uv pip install --quiet --python $(PEERS)/bin/python --require-hashes --requirement constraints-peers.txt && \
	touch $@ || echo "They could not be installed; they are skipped."
