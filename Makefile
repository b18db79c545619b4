# Everything is built under $(B); nothing needs root. "make help" lists the targets.
.DEFAULT_GOAL := build
SHELL  := /bin/sh
GO     ?= go
CC     := $(shell command -v $(CC) 2>/dev/null || echo $(CC))
CXX    := $(shell command -v $(CXX) 2>/dev/null || echo $(CXX))
PYTHON ?= python3
export CC CXX
B      ?= build
PREFIX ?= /usr/local

LIB     := $(B)/lib/libndfile.so
CMD     := $(B)/ndfile
VENV    := $(B)/venv
PY      := $(VENV)/bin/python
MODULES := ./... ./cmd/... ./benchmarks/... ./pkg/ndarrow/... ./pkg/ndmat/...# those of go.work
GOSRC   := $(shell find capi pkg cmd -name '*.go' -o -name '*.[chs]' -o -name '*.map' 2>/dev/null) capi/*.sh cmd/build.sh go.mod go.sum go.work cmd/go.mod cmd/go.sum
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Tests find the library and the package here.
export NDFILE_LIB := $(CURDIR)/$(LIB)
RUNPY := PYTHONPATH=bindings/python $(PY)

.PHONY: abi cross help tools build demo test test-go test-c test-fortran test-python test-ecosystem site test-julia lint lint-go lint-python gen gen-check \
        race torture fuzz bench bench-old bench-quick bench-blosc install test-install wheels clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | sort | awk -F'\t' '{printf "  %-12s %s\n", $$1, $$2}'

tools: # name what is missing, with its package
	@sh tools/check-tools.sh '$(GO)' '$(CC)' '$(CXX)' cmake '$(PYTHON)'

build: tools $(LIB) $(CMD) ## build the library and the command under build/

$(LIB): $(GOSRC)
	@GO='$(GO)' CC='$(CC)' sh capi/build.sh $@

$(CMD): $(GOSRC) | $(LIB)# after it: the two share objects
	@GO='$(GO)' CC='$(CC)' sh cmd/build.sh $@

$(VENV)/ok: bindings/python/tests/requirements.txt
	@echo 'python: installing the test environment into $(VENV)'
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install -q --disable-pip-version-check -r bindings/python/tests/requirements.txt
	@touch $@

# The demo needs NumPy, and nothing else of the test environment.
$(B)/demo-venv/ok: bindings/python/tests/requirements.txt
	@$(PYTHON) -m venv $(B)/demo-venv
	@$(B)/demo-venv/bin/python -m pip install -q --disable-pip-version-check "$$(grep '^numpy==' $<)"
	@touch $@

# The environment is fetched while the library is compiled.
demo: ## write a ds file, read it back from C and Python, print what happens
	@$(MAKE) -s -j2 build $(B)/demo-venv/ok
	@sh docs/examples/demo.sh '$(B)' '$(CC)'

# The Go tests use every core; of the others two run at a time, and each prints when it has ended.
OTHERS := test-julia test-c test-python test-fortran lint gen-check
test: build test-go ## all tests: Go, C, C++, Fortran, Python, Julia, lint, drift of generated files
	@echo 'test: $(OTHERS): two at a time, some 4 minutes'
	@$(MAKE) -s -j2 $(if $(filter output-sync,$(.FEATURES)),-O) $(OTHERS)
	@echo 'test: Go, C, C++, Fortran, Python, Julia, lint and generated files: done'

# Debian's packages for tests are unpacked, not installed: the c-blosc that has snappy, libnetcdf, and strace where there is none.
DEBIAN := $(B)/debian
GOTEST = eval "$$(sh pkg/netcdf/crosstest/get-netcdf.sh $(DEBIAN))"; NDFILE_TEST_PYTHON=$(CURDIR)/$(PY) NDFILE_TEST_LIBBLOSC=$$(sh pkg/blosc/crosstest/get-snappy.sh $(DEBIAN)) \
	 NDFILE_TEST_STRACE=$$(sh tools/get-strace.sh $(DEBIAN)) $(GO) test
test-go: $(LIB) $(VENV)/ok # packages, generator, golden files, fuzz corpora, peers of other languages, killed processes
	$(GO) vet $(MODULES)
	@{ $(GOTEST) $(MODULES); echo $$? >$(B)/go-test.status; } | tee $(B)/go-test.log
	@echo 'test-go: the packages that took longest:'; awk '$$1 == "ok" && $$3 ~ /s$$/ { print $$3, $$2 }' $(B)/go-test.log | sort -rn | head -n 8
	@exit $$(cat $(B)/go-test.status)
	@export GOWORK=off; for e in httpstore gonum_arrow; do (cd docs/examples/$$e && $(GO) vet ./... && $(GO) test ./...) || exit; done # modules of their own, as their readers' would be
	@command -v cargo >/dev/null || printf '\n*** SKIPPED: the check against the crate rawarray, since cargo is not here ***\n\n'

test-c: $(LIB) # the C contract, threads, and the header as C99, C11 and C++17
	cmake -S . -B $(B)/cmake -DNDFILE_GO='$(shell command -v $(GO))' -DNDFILE_MATRICES="$$(sh tools/get-matrices.sh $(DEBIAN))" >$(B)/cmake.log 2>&1 || { cat $(B)/cmake.log; exit 1; }
	@grep SKIPPED $(B)/cmake.log || true
	cmake --build $(B)/cmake
	ctest --test-dir $(B)/cmake --output-on-failure
	@$(MAKE) -s abi

abi: ## describe the types of the library in build/abi; BASE=FILE compares with an earlier description
	@GO='$(GO)' CC='$(CC)' sh tools/abi.sh $(B)/abi "$$(sh tools/get-abigail.sh $(DEBIAN))" $(BASE)

test-fortran: $(LIB) $(CMD) # the module ndfile; fetches a gfortran where the machine has none
	@sh tools/test-fortran.sh $(B)

test-python: $(LIB) $(CMD) $(VENV)/ok # the package, against the real ds-format
	$(RUNPY) -m pytest -q --durations=8 --durations-min=3 bindings/python/tests

# The documentation as a site, in an environment of its own; a dead link or a page outside of the navigation fails.
SITE := $(B)/site-venv
$(SITE)/ok: tools/site/requirements.txt
	@echo 'python: installing what builds the site into $(SITE)'
	@$(PYTHON) -m venv $(SITE)
	@$(SITE)/bin/python -m pip install -q --disable-pip-version-check -r $<
	@touch $@

site: $(SITE)/ok ## the documentation as a site, in build/site
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build -q --strict
	@echo 'site: $(B)/site/index.html'

# Packages of PyPI at the versions that users have now, and type checkers; they do not fit into the other environment.
ECOSYSTEM := $(B)/ecosystem-venv
$(ECOSYSTEM)/ok: bindings/python/tests/ecosystem/requirements.txt
	@echo 'python: installing what the ecosystem tests need into $(ECOSYSTEM)'
	@$(PYTHON) -m venv $(ECOSYSTEM)
	@$(ECOSYSTEM)/bin/python -m pip install -q --disable-pip-version-check -r bindings/python/tests/ecosystem/requirements.txt
	@touch $@

test-ecosystem: $(LIB) $(CMD) $(ECOSYSTEM)/ok ## the package with pandas, polars, pyarrow, duckdb, dask, xarray, mypy and pyright
	NDFILE_JULIA='$(if $(wildcard $(JULIA)),env JULIA_DEPOT_PATH=$(CURDIR)/$(B)/julia-depot $(CURDIR)/$(JULIA) --startup-file=no --project=$(CURDIR)/bindings/julia/NDFile)' \
	 NDFILE_ECOSYSTEM=1 PYTHONPATH=bindings/python $(ECOSYSTEM)/bin/python -m pytest -q bindings/python/tests/ecosystem

JULIA := $(B)/julia/julia
test-julia: $(LIB) # fetches a private Julia where the machine has none that works
	@if sh tools/get-julia.sh $(B)/julia; then \
	  JULIA_DEPOT_PATH=$(CURDIR)/$(B)/julia-depot JULIA_NUM_THREADS=4 $(JULIA) -O0 --startup-file=no --color=no \
	    --project=bindings/julia/NDFile bindings/julia/NDFile/test/runtests.jl; \
	elif [ -n "$$CI" ]; then echo 'test-julia: no working Julia, and CI may not skip it' >&2; exit 1; \
	else printf '\n*** SKIPPED: the Julia tests, since no working Julia is here and none could be fetched ***\n\n'; fi

lint: lint-go lint-python ## gofmt, go vet, staticcheck, deadcode, ruff

lint-go:
	@test -z "$$(gofmt -l capi pkg cmd benchmarks tools)" || { echo 'gofmt would change:'; gofmt -l capi pkg cmd benchmarks tools; exit 1; }
	$(GO) vet $(MODULES)
	$(GO) run $(STATICCHECK) $(MODULES)
	sh tools/deadcode.sh '$(GO)'

lint-python: $(VENV)/ok
	$(PY) -m ruff check bindings/python benchmarks docs
	$(PY) -m ruff format --check bindings/python benchmarks docs

# On the others than Linux and macOS the library reads files and changes none; big-endian machines are tested where they are.
CROSS := darwin/arm64 windows/amd64 freebsd/amd64 linux/riscv64 linux/s390x
cross: ## compile the packages, without C, for systems that the tests do not run on
	@for t in $(CROSS); do echo "cross: $$t"; CGO_ENABLED=0 GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) build ./pkg/... || exit 1; done

gen: ## write every generated file again
	$(GO) run ./capi/gen
	$(GO) run ./cmd/ndfile docs docs/cli.md

gen-check: # fail when a generated file is not what the generator writes
	$(GO) run ./capi/gen -check
	$(GO) run ./cmd/ndfile docs --check docs/cli.md

race: ## Go tests under the race detector, without those of peers in other languages (and of memory: it drops what is pooled)
	eval "$$(sh pkg/netcdf/crosstest/get-netcdf.sh $(DEBIAN))"; \
	 $(GO) test -race -skip 'TestHuge$$' $$($(GO) list ./pkg/... | grep -v -e /crosstest -e /crashtest)

torture: $(LIB) $(CMD) $(VENV)/ok ## kill processes at every system call, not only at those that change files; 1,000 power cuts in each operation
	export NDFILE_TORTURE=1; $(GOTEST) -count=1 -timeout 60m ./pkg/bcolz/crosstest ./pkg/zarr/crosstest -run Killed -v
	NDFILE_TORTURE=1 $(GO) test -count=1 ./cmd/ndfile -run Bounded -v
	NDFILE_TEST_WRITERS_SCALE=100 $(GO) test -count=1 -timeout 60m ./pkg/ndfile/all -run 'Appenders|SharedRegions|MixedWriters' -v
	export NDFILE_TORTURE=1; $(GOTEST) -count=1 -timeout 60m ./pkg/... -run '^Test(Format[023]?|ArchiveFormat|ClassicFormat|OtherPowerCuts|MigratePowerCut)$$/^(array|table|dataset|numbers|text|shards.*|consolidated.*|PowerCuts)$$/^PowerCuts$$'
	NDFILE_TORTURE=1 $(RUNPY) -m pytest -q bindings/python/tests/test_memory.py bindings/python/tests/test_failing_memory.py

fuzz: ## run every fuzz target for FUZZTIME (default 1m) each
	@sh tools/fuzz.sh '$(GO)' '$(or $(FUZZTIME),1m)'

# The workers of the benchmarks need a Julia; where there is none, the results say so.
BENCHMARKS = JULIA=$$(sh tools/get-julia.sh $(B)/julia >&2 && echo $(CURDIR)/$(JULIA)); export JULIA; \
	GO='$(GO)' PYTHON='$(CURDIR)/$(PY)' sh benchmarks/run.sh '$(B)'

bench: $(LIB) $(VENV)/ok ## all benchmarks against real peers, some 35 minutes; BENCH holds flags of the driver
	$(BENCHMARKS) -disk $(B)/bench-disk -out benchmarks/results -readme benchmarks/README.md $(BENCH)

bench-quick: $(LIB) $(VENV)/ok ## run every benchmark on a few files, to see that it works
	$(BENCHMARKS) -quick -disk $(B)/bench-disk -out $(B)/bench-quick $(BENCH)

bench-old: $(LIB) ## the small calls beside those of an earlier commit, in one process; BASE is the commit
	CC='$(CC)' sh benchmarks/sidebyside/run.sh $(B) $(BASE)

wheels: tools ## the source distribution and wheels for Linux on x86_64 and aarch64 in build/dist, with zig as the C compiler
	@GO='$(GO)' nice sh tools/packaging/wheels.sh '$(B)' '$(PYTHON)' $(MACHINES)

install: build ## install the library, headers, pkg-config and CMake files, the command and its completion: PREFIX, DESTDIR; DS=1: also as ds
	cmake -S . -B $(B)/install -DNDFILE_GO='$(shell command -v $(GO))' -DNDFILE_BUILD_TESTS=OFF \
	  -DCMAKE_INSTALL_PREFIX='$(PREFIX)' -DCMAKE_INSTALL_LIBDIR=lib >$(B)/install.log 2>&1 || { cat $(B)/install.log; exit 1; }
	cmake --build $(B)/install
	DESTDIR='$(DESTDIR)' cmake --install $(B)/install
	install -d '$(DESTDIR)$(PREFIX)/bin'
	install -m 755 $(CMD) '$(DESTDIR)$(PREFIX)/bin/'
	@share='$(DESTDIR)$(PREFIX)/share'; set -e; \
	 install -d "$$share/bash-completion/completions" "$$share/zsh/site-functions" "$$share/fish/vendor_completions.d"; \
	 $(CMD) completion bash >"$$share/bash-completion/completions/ndfile"; \
	 $(CMD) completion zsh >"$$share/zsh/site-functions/_ndfile"; \
	 $(CMD) completion fish >"$$share/fish/vendor_completions.d/ndfile.fish"
	@[ -z '$(DS)' ] || ln -sf ndfile '$(DESTDIR)$(PREFIX)/bin/ds'

test-install: $(LIB) $(VENV)/ok ## consumers by find_package, pkg-config and FetchContent, and the wheel, in clean folders
	@sh tools/test-install.sh '$(B)' '$(MAKE)' '$(PYTHON)'

bench-blosc: $(VENV)/ok ## pkg/blosc against the C-Blosc of the wheel; some 20 minutes
	$(PY) benchmarks/blosc/compare.py --out benchmarks/results/blosc

clean: ## remove build/
	rm -rf $(B)
