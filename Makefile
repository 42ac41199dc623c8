# The commands for developers. Each runs cargo or a script.

CARGO ?= cargo
# The reference systems are a separate workspace. Every check applies to both workspaces.
SYSTEMS = --manifest-path reference-systems/Cargo.toml
# Inputs of each fuzz target under `make sanitize`; slow targets get fewer.
SANITIZE_RUNS ?= 2000
# Seconds per target in `make fuzz`. `make test` only runs the stored inputs.
FUZZ_SECONDS ?= 60
# Recorded output of other programs, published reports and vendored code are not spell-checked.
NOT_OURS = ':!vendor' ':!cases' ':!docs/reports' ':!crates/audit/tests' ':!crates/audit/corpus' \
	':!*/corpora/*' ':!*.svg' ':!*.json' ':!*.html' ':!*.txt' ':!*.snap' ':!*.protoset' ':!*Cargo.lock'
# The release of grpc-go whose server `make interop` uses.
GRPC_GO = v1.76.0

.PHONY: help install setup demo book crates guides test lint spelling reports unit images bench instructions lab-quick fuzz sanitize fmt interop autobahn fleet-campaign fleet-kubernetes

help:
	@echo "make demo   build, run a lab on the embedded server (about two minutes), and show its conclusions and report"
	@echo "make install   build both programs and install them with cargo, into ~/.cargo/bin (ROOT=directory: elsewhere)"
	@echo "make book   build the documentation as one searchable book: target/book/html/index.html (needs Python and PyPI)"
	@echo "make guides run the commands of the README and of the guides, as a reader would (Linux)"
	@echo "make crates package the published crates, as cargo publish would, without building them again"
	@echo "make test   run everything that must pass before a change lands"
	@echo "make images run recorded scripts and random programs with one image of the heap, swapped at every wait (Linux)"
	@echo "make setup  install the programs that building and testing need (Debian)"
	@echo "make lint   tidy, formatting, clippy and (where installed) cargo-deny"
	@echo "make bench  compare with other tools, pinned to CPUs (docs/performance.md)"
	@echo "make instructions   check the number of instructions per request against its budget (needs valgrind)"
	@echo "make lab-quick   run one of the five labs in its quick form: a different one for each commit, or LAB=name"
	@echo "make interop   run gRPC's interoperability cases against grpc-go's server (needs Go)"
	@echo "make autobahn  run Autobahn's WebSocket test suite on both modules (needs Python 2.7: PYTHON2=...)"
	@echo "make fleet-campaign  run TRIALS random fault trials of a fleet (now $(TRIALS)), and large and fast fleets; print their tables"
	@echo "make fleet-kubernetes  start agents with a Kubernetes API server that is built from source; print the checks"
	@echo "make fuzz   fuzz each target for FUZZ_SECONDS seconds (now $(FUZZ_SECONDS)) under AddressSanitizer (needs clang)"
	@echo "make sanitize  run the same fuzz inputs each time, and the tests of unsafe code, under AddressSanitizer"
	@echo "make fmt    format the source code"

setup:
	@scripts/setup test

# Where cargo installs: ROOT/bin.
ROOT ?=
install:
	@scripts/setup build
	$(CARGO) install --locked $(if $(ROOT),--root "$(ROOT)") --path crates/cli
	$(CARGO) install --locked $(if $(ROOT),--root "$(ROOT)") --path reference-systems/serve

demo:
	@examples/demo.sh

book:
	$(CARGO) build --package plimsoll
	@docs/book/make target/debug/plimsoll target/book

guides:
	@docs/guide/check "$$(CARGO="$(CARGO)" scripts/programs)"

crates:
	$(CARGO) publish --workspace --dry-run --no-verify --allow-dirty
	$(CARGO) publish $(SYSTEMS) --workspace --dry-run --no-verify --allow-dirty

test: setup lint unit images

lint: spelling reports
	$(CARGO) xtask tidy
	@vendor/patch check
	$(CARGO) fmt --all --check
	$(CARGO) fmt $(SYSTEMS) --all --check
	@if [ "$$RUSTC_WORKSPACE_WRAPPER" = clippy-driver ]; then echo "lint: clippy runs when the tests are built"; \
	else $(CARGO) clippy --workspace --all-targets --quiet -- -D warnings && \
		$(CARGO) clippy $(SYSTEMS) --workspace --all-targets --quiet -- -D warnings; fi
	$(CARGO) clippy --package plimsoll --no-default-features --quiet -- -D warnings
	$(CARGO) clippy $(SYSTEMS) --package plimsoll-serve --no-default-features --features zanzibar --quiet -- -D warnings
	@if command -v cargo-deny >/dev/null 2>&1; then \
		$(CARGO) deny --offline check bans licenses sources && \
		$(CARGO) deny --offline $(SYSTEMS) check --config "$(CURDIR)/deny.toml" bans licenses sources; \
	else echo "lint: cargo-deny is not installed; tidy has checked the licenses, bans and sources were not"; fi

spelling:
	@if command -v codespell >/dev/null 2>&1; then git ls-files -z -- . $(NOT_OURS) | xargs -0 codespell --quiet-level=6; \
	else echo "lint: codespell is not installed; spelling was not checked"; fi

# Checks docs/reports/README.md against the published results, and how the labs avoid the errors of their sources.
reports:
	@if command -v python3 >/dev/null 2>&1; then labs/rows --check && labs/avoided; \
	else echo "lint: python3 is not installed; the published reports were not checked"; fi

images:
	@CARGO="$(CARGO)" scripts/image-tests

unit:
	@CARGO="$(CARGO)" scripts/unit

bench:
	@bench/run

instructions:
	@bench/instructions.py

lab-quick:
	@CARGO="$(CARGO)" labs/quick $(LAB)

interop:
	GOBIN="$(CURDIR)/target/interop" go install google.golang.org/grpc/interop/server@$(GRPC_GO)
	$(CARGO) run --quiet --package plimsoll-grpc --example interop -- target/interop/server \
		"$$(go env GOMODCACHE)/google.golang.org/grpc@$(GRPC_GO)/testdata/ca.pem"

# Trials of `make fleet-campaign`. It continues where it was interrupted.
TRIALS ?= 1000
fleet-campaign:
	PLIMSOLL_FLEET_TRIALS=$(TRIALS) PLIMSOLL_FLEET_RESULTS="$(CURDIR)/target/fleet-campaign.jsonl" \
		$(CARGO) test --quiet --release --package plimsoll --test fleet_faults campaign
	scripts/fleet-campaign target/fleet-campaign.jsonl
	$(CARGO) build --quiet --release --package plimsoll --package plimsoll-bench
	scripts/fleet-scale target/release/plimsoll target/release/fixed-server

fleet-kubernetes:
	$(CARGO) build --quiet --package plimsoll
	scripts/fleet-kubernetes target/debug/plimsoll

autobahn:
	$(CARGO) build --quiet --package plimsoll
	crates/ws/autobahn/run.py target/debug/plimsoll

fuzz:
	@fuzz/run --seconds $(FUZZ_SECONDS)

sanitize:
	@fuzz/run --unit-tests --runs $(SANITIZE_RUNS)

fmt:
	$(CARGO) fmt --all
	$(CARGO) fmt $(SYSTEMS) --all
