# What a contributor runs. `make help` lists it; CONTRIBUTING.md explains it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

GO ?= go
TOOL := $(GO) tool -modfile=$(CURDIR)/tools.mod
BUF := $(TOOL) buf

# The version is linked in below, so that a clone whose owner git distrusts builds as well.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false)
VERSION ?= $(or $(shell git describe --tags --always --dirty 2>/dev/null),dev)
PROGRAMS := server/cmd/pointsman gateway/cmd/pointsman-gateway clients/cmd/pointsmanctl

# Modules that keep their dependencies out of the main one.
NESTED := $(patsubst %/go.mod,%,$(shell find . -mindepth 2 -name go.mod -not -path '*/node_modules/*' -not -path './.*'))
EACH_MODULE = for module in . $(NESTED); do echo "-- $$module"; (cd "$$module"; $(1)); done

# The race detector needs a C compiler.
RACE := $(if $(shell command -v $(or $(CC),gcc)),-race)
TESTFLAGS ?=

BENCH ?= .
COUNT ?= 6
FUZZTIME ?= 30s
# Groups of rows for bench-core; all when it is empty.
BENCH_CORE ?=
# Flags of bench-gateway, e.g. -short.
BENCH_GATEWAY ?=

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## Build and start everything with demo backends; Ctrl-C stops it.
	@exec deploy/quickstart/run.sh

.PHONY: build
build: ## Put static programs in bin/.
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/ $(addprefix ./,$(PROGRAMS))

.PHONY: test
test: deps ## Install what tests need if root may, then run every test.
	@[[ -n "$(RACE)" ]] || echo "test: no C compiler, so the race detector is off"
	@for module in $(NESTED); do echo "-- $$module"; (cd "$$module" && $(GO) test $(RACE) $(TESTFLAGS) ./...); done
	$(GO) test $(RACE) $(TESTFLAGS) ./...

.PHONY: test-clients
test-clients: ## Play one script with clients of many languages, directly and through the gateway (SHORT=1: sooner done).
	@.ci/deps clients
	$(GO) test -count=1 -v -timeout 60m ./deploy/clients $(if $(SHORT),,-args -full)

.PHONY: deps
deps:
	@.ci/deps

.PHONY: check
check: lint test ## Everything that must be green before a change goes in.

.PHONY: lint
lint: lint-format lint-go lint-proto lint-generated lint-modules lint-shell ## Check formatting, code, API, generated files, modules, scripts.

.PHONY: lint-format lint-go lint-proto lint-generated lint-modules lint-shell
lint-format:
	@files=$$($(TOOL) gofumpt -l .); [[ -z "$$files" ]] || { echo "not formatted, run make fmt:"; echo "$$files"; exit 1; }

lint-go:
	@$(call EACH_MODULE,$(GO) vet ./... && $(TOOL) golangci-lint run --config $(CURDIR)/.golangci.yml ./...)

lint-proto:
	$(BUF) lint
	$(BUF) format --diff --exit-code
	@BUF="$(BUF)" .ci/breaking

lint-generated:
	@BUF="$(BUF)" .ci/generated

lint-modules:
	@$(call EACH_MODULE,$(GO) mod tidy -diff)

lint-shell:
	@.ci/shell

.PHONY: fmt
fmt: ## Format Go and proto files.
	$(TOOL) gofumpt -w .
	$(BUF) format -w

.PHONY: gen
gen: ## Generate Go from proto/.
	$(BUF) generate

.PHONY: bench
bench: ## Run benchmarks (BENCH, COUNT) and compare with bench/base.txt if it is there.
	@mkdir -p bench
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./... | tee bench/new.txt
	$(TOOL) benchstat $(wildcard bench/base.txt) bench/new.txt

.PHONY: bench-core
bench-core: ## Hold the decision core to its budgets (docs/benchmarks.md).
	@mkdir -p bench
	@$(GO) build -o bench/bench-core ./deploy/bench/cmd/bench-core
	@bench/bench-core -out bench/core.json $(BENCH_CORE)

.PHONY: bench-hostile
bench-hostile: ## Measure what a hostile caller does to the others.
	@mkdir -p bench
	@$(GO) build -o bench/ ./deploy/bench/cmd/bench-hostile ./server/cmd/pointsman
	@bench/bench-hostile -server bench/pointsman -out bench/hostile.json

.PHONY: bench-gateway
bench-gateway: ## Hold the gateway to its budgets against HAProxy (docs/benchmarks.md).
	@.ci/deps mariadbd=mariadb-server haproxy sysbench
	@mkdir -p bench
	@$(GO) build -o bench/ ./deploy/bench/cmd/bench-gateway ./server/cmd/pointsman ./gateway/cmd/pointsman-gateway
	@bench/bench-gateway -server bench/pointsman -gateway bench/pointsman-gateway -out bench/gateway.json $(BENCH_GATEWAY)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (30s) each.
	@.ci/fuzz $(FUZZTIME)
