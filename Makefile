# redleaf: `make run` serves, `make test` checks everything.

GOLANGCI := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
BIN := bin/redleaf
# Arguments for `make run`, e.g. make run ARGS="--listen 127.0.0.1:6380".
ARGS ?=

.PHONY: all build redleaf run deps test test-redis test-clients test-nodes test-deploy test-browser hostile torture torture-mutants model lint bench cost fuzz clean

all: build

build: redleaf
	go build -buildvcs=auto -trimpath -o $(BIN)-bench ./cmd/redleaf-bench

# The version that `redleaf version` prints comes from the checkout.
redleaf:
	go build -buildvcs=auto -trimpath -o $(BIN) ./cmd/redleaf

run: redleaf
	./$(BIN) serve --init $(ARGS)

# Programs that the tests run beside redleaf: MariaDB, Redis, redis-cli and promtool.
deps:
	.ci/deps promtool prometheus

test: deps
	go vet ./...
	go test -race -timeout 10m ./...

# Redis's own test suite against redleaf: docs/redis-suite.md says what of it is run.
test-redis: build
	.ci/deps tclsh tcl
	server/redistest/fetch bin/redis-suite
	go run ./server/redistest -doc docs/redis-suite.md

# What deploy/ has, and the metrics, by Prometheus's own promtool.
test-deploy:
	.ci/deps promtool prometheus
	go test -count=1 -run 'TestMetrics|Deploy|Grafana|AlertRules' ./server/httpd

# The pages in a real browser. With REDLEAF_SCREENSHOTS=DIR it leaves pictures of them there.
test-browser:
	.ci/deps chromium chromium
	go test -count=1 -tags browser -run TestBrowser ./server/httpd

# Hostile clients against the binary, measured into docs/hostile.md. It takes about two minutes.
hostile: build deps
	go run ./server/hostile -doc docs/hostile.md

# Faults for half an hour, measured into docs/torture.md. SEED repeats the faults of a run.
TORTURE_TIME ?= 30m
SEED ?= 0
torture: deps
	go test -v -count=1 -timeout 0 -run TestTorture ./server/torture -torture.for $(TORTURE_TIME) -torture.seed $(SEED) -torture.doc $(CURDIR)/docs/torture.md

# Known bugs, one at a time, that the faults must find; minutes each.
torture-mutants: deps
	go test -v -count=1 -timeout 0 -run TestMutants ./server/torture -torture.mutants

# The lease protocols searched state by state, written into docs/model.md. It takes some minutes and 4 GB of memory.
model:
	go test -count=1 -timeout 0 -run TestSound -v ./alloc/sqlstore/model -model.doc $(CURDIR)/docs/model.md

# Real client libraries of eight languages against a real server: docs/clients.md.
test-clients:
	server/clienttest/deps
	go test -v -count=1 -tags clients -timeout 40m -skip TestSeveral ./server/clienttest

# The same with three nodes that are killed, drained, added and restarted: docs/nodes.md. It takes about six minutes.
test-nodes: deps
	server/clienttest/deps
	go test -v -count=1 -tags clients -timeout 40m -run TestSeveral ./server/clienttest

lint:
	test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	go vet -tags clients,browser ./...
	cd server/clienttest/go && go vet ./...
	cd bench/peers && go vet ./...
	test -z "$$(go fix -tags clients,browser -diff ./... 2>&1)" || { go fix -tags clients,browser -diff ./...; exit 1; }
	$(GOLANGCI) run --config .ci/golangci.yml --build-tags clients,browser ./...

# redleaf beside a real Redis, and its parts beside id libraries, measured into bench/RESULTS.md. It takes about six minutes.
bench: build deps
	go run ./bench/suite

# What 1 to 300 nodes, and 1,000 tags on 10 nodes, cost their database, measured into docs/planning.md. It takes about six minutes.
cost: build deps
	go run ./bench/suite -cost docs/planning.md

# Each fuzz target for FUZZTIME; what they have found so far runs in `make test`.
FUZZTIME ?= 1m
fuzz:
	for target in FuzzReader FuzzConnection; do go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) ./server || exit 1; done

clean:
	rm -rf bin
