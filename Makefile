# `make` lists the targets. Each of them works as the first command on a new machine with Swift.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

EXAMPLE := Examples/PackageCatalog
CLUSTER := Cluster
CLUSTER_FOLDER ?= .build-packages/nodes
SERVER := Examples/CatalogServer
SERVER_DATABASE ?= .build-packages/server.sqlite
PORT ?= 8080
DEMO_DATABASE ?= .build-packages/catalog.sqlite
FILTER ?=
ONLY ?=
SECONDS ?= 30
COUNT ?= 20
ROUNDS ?= 200
STATEMENTS ?= 1000000
TARGET ?=
FIGURES ?=
DEBUGGER ?=
WHOLE ?=
ARGS ?=
comma := ,

# The library's tests and the packages beside it share one build folder, so that the library is compiled once for all of
# them. Swift mustn't keep the plan of a build there: it is that of another package. Hence `swift build` by hand uses other
# build folders. Editors and debuggers use those, so the index here leaves out the system's modules, and there is no
# information for debuggers: a build takes a fifth less time. DEBUGGER=1 has the lines, for the trace of a crash.
FOLDER = --scratch-path .build-packages --disable-build-manifest-caching -Xswiftc -index-ignore-system-modules \
	-Xswiftc $(if $(DEBUGGER),-gline-tables-only,-gnone)
SHARED = $(FOLDER) $(if $(WHOLE),$(WHOLE_MODULES))
# WHOLE=1 compiles each module at once, and the compiler doesn't check its own intermediate code. A build from nothing
# takes a quarter less time; after a change of one file, its whole module is compiled.
WHOLE_MODULES = -Xswiftc -whole-module-optimization -Xswiftc -disable-batch-mode -Xswiftc -num-threads -Xswiftc 1 \
	-Xswiftc -Xfrontend -Xswiftc -disable-llvm-verify -Xswiftc -Xfrontend -Xswiftc -sil-verify-none
# Each package there enables this trait of Quarry, and so do builds of Quarry itself: others would compile it once more.
QUARRY = $(SHARED) --traits AllButTLS
IN_PACKAGE = $(SHARED) --package-path
# The package Cluster enables the trait ClusterTLS instead, so it has a folder of its own.
IN_CLUSTER = $(subst .build-packages,.build-cluster,$(SHARED)) --package-path $(CLUSTER)
RELEASE_OF = $(FOLDER) -c release --package-path
BUILD_TESTS = swift build $(QUARRY) --build-tests

# Sixteen tests at once, if this Swift accepts a number: a resumed task queues behind these, not behind all tests.
WIDTH_OPTION := --experimental-maximum-parallelization-width
AT_ONCE = $(shell swift test --help-hidden 2>&1 | grep -e '$(WIDTH_OPTION)' >/dev/null && echo '$(WIDTH_OPTION) 16')
TEST = Scripts/report-failures swift test --disable-xctest
TEST_BUILT = $(TEST) $(QUARRY) --skip-build
TEST_AT_ONCE = $(TEST) $(AT_ONCE)
TEST_BUILT_AT_ONCE = $(TEST_BUILT) $(AT_ONCE)

# Tests in processes of their own: load; emulated nodes, which open SQLite before the library has configured it; tracers of
# all databases of the process; the compiler.
APART = QuarryStressTests|QuarryClusterTests|QuarryInstrumentationTests|QuarryCodeGenerationTests

# The suites whose SQL, limits or wording depend on the version of SQLite.
OF_SQLITE = SQLiteVersionTests|OpeningTests|DatabaseTests|BadInputTests|StatementValueTests|FullText|Untrusted|SlowFunction|FunctionCallCount|ReportedTables|RequestRegionTests|RecordedRegionTests|DatabaseRegionTests|LimitTests|JSON|RenderingTests|IndexedTableTests|PageTests|PageSeamTests

# The tests under the sanitizer $(1), built in the folder $(2), without the products that have a trait. Emulated nodes are in
# a process of their own, as above. They also run if the others have failed.
SANITIZED = $(TEST_AT_ONCE) $(WHOLE_MODULES) --sanitize=$(1) --scratch-path $(2) $(if $(FILTER),--filter '$(FILTER)',--skip \
	'QuarryClusterTests|QuarryCodeGenerationTests' || status=$$?; $(TEST) $(WHOLE_MODULES) --sanitize=$(1) --scratch-path $(2) --skip-build \
	--filter QuarryClusterTests || status=$$?; exit $${status:-0})

.PHONY: help setup build test test-checks test-types test-newer-sqlite test-sqlite-wording steady verify kills differential stress test-tsan test-asan fuzz lint format docs compatibility bench allocations \
	scaling load build-time demo serve test-page getting-started codegen cluster test-cluster bench-cluster clean

##@ Try it

demo: setup ## Import this machine's packages, and print reports (first build: 2 minutes)
	swift build $(RELEASE_OF) $(EXAMPLE) --product catalog
	@"$$(swift build $(RELEASE_OF) $(EXAMPLE) --show-bin-path)/catalog" --database $(DEMO_DATABASE) --search "database library" $(ARGS)
	@printf '%s\n' 'The database: $(DEMO_DATABASE). The code: $(EXAMPLE). The readers saw whole packages all the time.' \
		"Next: make serve, which shows it in a browser, or make demo ARGS='--lookup vim'."

serve: setup ## Serve them on http://127.0.0.1:8080, or PORT=… (first build: some minutes)
	swift build $(RELEASE_OF) $(SERVER) --product catalog-server
	@"$$(swift build $(RELEASE_OF) $(SERVER) --show-bin-path)/catalog-server" --database $(SERVER_DATABASE) --port $(PORT) \
		--import machine $(ARGS)

load: setup ## Load that server, and the same handlers on Quarry and GRDB: some minutes
	@Scripts/install-missing wrk
	swift build $(RELEASE_OF) $(SERVER) --product catalog-server
	swift build $(RELEASE_OF) Benchmarks/HTTPLoad
	@load="$$(swift build $(RELEASE_OF) Benchmarks/HTTPLoad --show-bin-path)/http-load" && \
		server="$$(swift build $(RELEASE_OF) $(SERVER) --show-bin-path)/catalog-server" && \
		"$$load" catalog --server "$$server" && echo && "$$load" peers $(ARGS)

cluster: setup ## Run three nodes of a dqlite cluster at PORT=9000 and the next, until Ctrl-C
	@Scripts/install-dqlite
	swift build $(IN_CLUSTER) --product quarry-node
	@$(CLUSTER)/three-nodes "$$(swift build $(IN_CLUSTER) --show-bin-path)/quarry-node" $(CLUSTER_FOLDER) \
		$(if $(filter command line environment,$(origin PORT)),$(PORT),9000)

getting-started: setup ## Follow the article "Getting started in a server": 3 minutes
	@Scripts/install-missing curl python3
	Scripts/follow-getting-started --self-test >/dev/null
	Scripts/follow-getting-started $(ARGS)

##@ Use it

setup: ## Check Swift; install SQLite's development files with apt if they are missing
	@Scripts/setup >&2

build: setup ## Build the library
	swift build

docs: setup ## Build the documentation into .build/documentation
	QUARRY_BUILD='$(QUARRY)' Scripts/build-documentation

# Standard output is for the generated code: make -s codegen ARGS=app.sqlite > Records.swift
codegen: setup ## Generate record types from a database: ARGS="app.sqlite --output Sources/App"
	@swift build $(QUARRY) --product quarry-codegen >&2
	@"$$(swift build $(QUARRY) --show-bin-path)/quarry-codegen" $(ARGS)

##@ Work on it

# A comment with ##@ begins a group of this list, and one with ## is the line of its target.
help: ## Print this list
	@echo "Quarry: make TARGET"
	@awk -F ':.*## ' '/^##@ / { print "\n" substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-19s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\n%s\n%s\n' 'FILTER=name runs the tests with matching names. ARGS=… are options of the program that is run.' \
		'The times are for two cores. Later builds compile only changed files and those that need them.'

test: setup ## Run all tests: 12 minutes (first build: 7); with FILTER, those of the library
	@$(if $(FILTER),Scripts/steps 'build' '$(BUILD_TESTS)' \
		'$(FILTER)' '$(TEST_BUILT_AT_ONCE) --filter "$(FILTER)"',Scripts/steps \
		'checks of the checks' 'make -s test-checks' \
		'traits' 'Scripts/check-traits' \
		'build' '$(BUILD_TESTS)' \
		'types and operators' 'make -s test-types' \
		'library' '$(TEST_BUILT_AT_ONCE) --skip "$(APART)"' \
		'emulated clusters' '$(TEST_BUILT) --filter QuarryClusterTests' \
		'instrumentation' '$(TEST_BUILT) --filter QuarryInstrumentationTests' \
		'example' '$(TEST) $(IN_PACKAGE) $(EXAMPLE)' \
		'code generation' 'QUARRY_CATALOG=$$(swift build $(IN_PACKAGE) $(EXAMPLE) --show-bin-path)/catalog \
			$(TEST_BUILT) --filter QuarryCodeGenerationTests' \
		'server' '$(TEST) $(IN_PACKAGE) $(SERVER)')

# Needs the library's modules.
test-types: export QUARRY_MODULES = $(shell swift build $(QUARRY) --show-bin-path)/Modules
test-types:
	Scripts/check-type-checking --self-test
	Scripts/check-type-checking
	Scripts/check-operators --self-test
	Scripts/check-operators
	Scripts/check-mistakes --self-test
	Scripts/check-mistakes

test-checks:
	Scripts/report-failures --self-test
	Scripts/steps --self-test
	Scripts/install-missing --self-test
	Cluster/three-nodes --self-test

lint: ## Check the layers, the house rules and the format
	Scripts/lint-layers --self-test
	Scripts/lint-layers
	Scripts/draw-architecture --check
	Scripts/package-files .swift | xargs -0 swift format lint --strict --parallel --configuration .swift-format

format: ## Format all Swift files in place
	Scripts/package-files .swift | xargs -0 swift format --in-place --parallel --configuration .swift-format
	Scripts/package-files .swift | xargs -0 Scripts/wrap-comments

test-newer-sqlite: setup ## Run the tests on a newer SQLite, built once, on Linux
	$(BUILD_TESTS)
	folder=$$(Scripts/newer-sqlite) && QUARRY_SQLITE_VERSION=$$(basename "$$folder") LD_LIBRARY_PATH=$$folder \
		$(TEST_BUILT_AT_ONCE) $(if $(FILTER),--filter '$(FILTER)',--skip '$(APART)')
	$(if $(FILTER),,folder=$$(Scripts/newer-sqlite --without-hooks) && QUARRY_SQLITE_LACKS_HOOKS=1 LD_LIBRARY_PATH=$$folder \
		$(TEST_BUILT_AT_ONCE) --filter AvailabilityTests)

test-sqlite-wording: ## Run there the tests whose SQL, limits or wording depend on SQLite
	make -s test-newer-sqlite FILTER='$(OF_SQLITE)'

test-page: setup ## Run the tests of the server's page in Chromium; FIGURES=folder draws pictures
	@Scripts/install-missing curl $(if $(FIGURES),pngquant)
	@status=0; Scripts/install-missing --optional chromium chromedriver=chromium-driver || status=$$?; \
	if [ $$status = 3 ]; then echo "skipped: the tests of the page need Chromium and its driver"; exit; fi; \
	if [ $$status != 0 ]; then exit $$status; fi; \
	CATALOG_PAGE_FIGURES=$(abspath $(FIGURES)) $(TEST) $(IN_PACKAGE) $(SERVER) \
		--filter 'PageBrowserTests|PageAppearanceTests' \
	$(if $(FIGURES),&& cd $(FIGURES) && pngquant --force --ext .png --quality 60-95 catalog-light.png catalog-dark.png catalog-narrow.png)

test-cluster: setup ## Run the tests on real nodes of dqlite, which is installed if it is missing
	@Scripts/install-dqlite
	@Scripts/install-missing openssl python3 ip=iproute2
	@status=0; Scripts/install-missing --optional faketime || status=$$?; [ $$status = 0 ] || [ $$status = 3 ]
	swift build $(IN_CLUSTER) --build-tests
	$(TEST) --skip-build --no-parallel $(IN_CLUSTER) $(if $(FILTER),--filter '$(FILTER)')
	$(if $(FILTER),,QUARRY_NODE="$$(swift build $(IN_CLUSTER) --show-bin-path)/quarry-node" \
		$(TEST) $(IN_PACKAGE) $(EXAMPLE) --filter 'PackageCatalogTests\.ClusterTests')

compatibility: setup ## Run the same programs with GRDB and with Quarry; ARGS=--record: rewrite texts
	swift build $(IN_PACKAGE) Benchmarks --product grdb-programs
	@"$$(swift build $(IN_PACKAGE) Benchmarks --show-bin-path)/grdb-programs" $(ARGS) Tests/QuarryCompatibilityTests/Expected
	$(BUILD_TESTS)
	$(TEST_BUILT_AT_ONCE) --filter QuarryCompatibilityTests

clean: ## Delete all build products
	rm -rf .build .build-* $(EXAMPLE)/.build $(CLUSTER)/.build Benchmarks/.build Benchmarks/HTTPLoad/.build \
		$(SERVER)/.build Tests/Fuzzing/.build

##@ Work on it: the long proofs

verify: setup ## Run the long proofs, for hours, and write a table to .build/verify
	@Scripts/steps --go-on --report .build/verify \
		'products with traits' 'Scripts/check-traits --build' \
		'SQLite 3.54' 'make -s test-newer-sqlite' \
		'stress' 'make -s stress' \
		'kills and power cuts' 'make -s kills' \
		'nodes of a cluster' 'make -s test-cluster' \
		'the page in Chromium' 'make -s test-page' \
		'Getting started' 'make -s getting-started' \
		'programs for GRDB' 'make -s compatibility' \
		'fuzzing' 'make -s fuzz SECONDS=300' \
		'differential' 'make -s differential' \
		'thread sanitizer' 'make -s test-tsan' \
		'address and leak sanitizers' 'make -s test-asan'

steady: setup ## Run the library's tests COUNT=20 times beside two busy processes
	$(BUILD_TESTS)
	Scripts/steady $(COUNT) $(TEST_BUILT_AT_ONCE) $(if $(FILTER),--filter '$(FILTER)',--skip '$(APART)')

kills: setup ## Kill processes, cut the power and damage files in ROUNDS=200 rounds
	$(BUILD_TESTS)
	QUARRY_KILLS=$(ROUNDS) QUARRY_POWER_CUTS=$(ROUNDS) QUARRY_ALL_FAULTS=1 QUARRY_SALVAGE_DATABASES=$(ROUNDS) \
		$(TEST_BUILT_AT_ONCE) --filter 'Killed|PowerLoss|DamagedFileProcesses|DamagedDatabases|ProvenRows|FaultWorkload|DocumentFault|OutOfMemory'
	QUARRY_SALVAGE_HEADERS=1 $(TEST_BUILT_AT_ONCE) --filter HeaderDamageTests

differential: setup ## Compare STATEMENTS=1000000 random statements with the C API, and with a model
	$(BUILD_TESTS)
	QUARRY_DIFFERENTIAL_STATEMENTS=$(STATEMENTS) $(TEST_BUILT_AT_ONCE) --filter DifferentialTests

stress: setup ## Run the stress tests, SECONDS=30 each
	$(BUILD_TESTS)
	QUARRY_STRESS_SECONDS=$(SECONDS) \
		$(TEST_BUILT) --filter '$(or $(FILTER),QuarryStressTests)'

fuzz: setup ## Fuzz the code that reads text, SQL and values, SECONDS=30 each; TARGET=dates
	Scripts/fuzz $(SECONDS) $(TARGET)

test-tsan: setup ## Run the tests under the thread sanitizer, in a separate build folder
	export QUARRY_TEST_TIME_FACTOR=4 TSAN_OPTIONS="suppressions=$(CURDIR)/Scripts/tsan-suppressions"; \
		$(call SANITIZED,thread,.build-tsan)

# Child processes have to print nothing, so nor may the sanitizer about the leaks that it passes over.
test-asan: setup ## Run the tests under the address and leak sanitizers, in a separate folder
	export QUARRY_TEST_TIME_FACTOR=4 LSAN_OPTIONS="print_suppressions=0:suppressions=$(CURDIR)/Scripts/lsan-suppressions"; \
		$(call SANITIZED,address,.build-asan)

##@ Work on it: measurements

bench: setup ## Compare C, Quarry and GRDB: some minutes; ONLY=6: rows 6.x
	swift run $(RELEASE_OF) Benchmarks quarry-bench $(if $(ONLY),--only $(ONLY)) $(ARGS)

allocations: setup ## Check that no row allocates more than its threshold; ONLY=6: rows 6.x
	swift build $(RELEASE_OF) Benchmarks --product quarry-allocations
	@"$$(swift build $(RELEASE_OF) Benchmarks --show-bin-path)/quarry-allocations" $(subst $(comma), ,$(ONLY))

scaling: setup ## Measure cost as work grows, and draw the figures of Performance.md
	mkdir -p Benchmarks/Results
	swift run $(RELEASE_OF) Benchmarks quarry-scaling --json Benchmarks/Results/scaling.json $(ARGS)
	Benchmarks/plots Benchmarks/Results/scaling.json Documentation/Figures

build-time: setup ## Compare clean builds of a program with Quarry and with GRDB
	Benchmarks/build-time $(ARGS)

bench-cluster: setup ## Compare DatabaseCluster and go-dqlite's client on three nodes: some minutes
	@Scripts/install-dqlite
	swift build --package-path $(CLUSTER) -c release --product quarry-node
	swift build --package-path $(CLUSTER) -c release --product cluster-bench
	@peer=$(CLUSTER)/.build/go-client; status=0; $(CLUSTER)/Benchmarks/build-go-client $$peer || status=$$?; \
	if [ $$status = 3 ]; then peer=; elif [ $$status != 0 ]; then exit $$status; fi; \
	"$$(swift build --package-path $(CLUSTER) -c release --show-bin-path)/cluster-bench" $${peer:+--peer $$peer} $(ARGS)
