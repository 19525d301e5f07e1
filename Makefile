# Entry points for people and CI; `make help` lists them.
# The logic is in scripts/ and xtask/: this file only names it.

export PATH := $(PATH):$(HOME)/.cargo/bin
.DEFAULT_GOAL := help
.PHONY: help setup demo check test test-quick chaos loom sanitize audit bench lint header fmt package

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install everything that is missing (Debian packages, rustfmt, clippy, Python venv)
	@scripts/setup.sh

demo: ## see all of it work in under a minute: a simulated robot, recorded, replayed, held against the truth
	@scripts/setup.sh rust packages
	@cargo build --release -p timeloom-cli -p timeloom-examples --bin timeloom --example demo
	@target/release/examples/demo

check: ## format, clippy and unit tests of the crates that differ from main (CRATES='bag cli': these)
	@scripts/setup.sh lint packages
	@scripts/check.sh $(CRATES)

test: ## run every test, with the features of released binaries; CI runs this
	@scripts/setup.sh rust packages
	@scripts/test.sh

test-quick: ## the same without SQL, Zenoh and object storage in the binary, so without building DataFusion
	@scripts/setup.sh rust packages
	@scripts/test.sh --quick

chaos: ## break everything on purpose and account for every message (MINUTES=5, SEED=7, ONLY='disk full'); see RELIABILITY.md
	@scripts/setup.sh rust packages
	@scripts/chaos.sh

loom: ## run the loom models alone
	@scripts/setup.sh rust packages
	@scripts/loom.sh

sanitize: ## ThreadSanitizer and Miri; needs a nightly toolchain, see scripts/sanitize.sh
	@scripts/setup.sh rust packages
	@scripts/sanitize.sh

audit: ## check licences and sources of all dependencies against deny.toml
	@cargo xtask audit

bench: ## run the benchmarks and fill BENCHMARKS.md (ONLY=time.now: ids with this prefix)
	@scripts/setup.sh rust packages
	@cargo xtask bench --date "$$(date +%F)" $(if $(ONLY),--only '$(ONLY)')

lint: ## check format, clippy and documentation with all and with default features; any warning fails
	@scripts/setup.sh lint packages
	cargo fmt --all --check
	cargo clippy --workspace --features timeloom-cli/full --all-targets --quiet -- -D warnings
	cargo clippy -p timeloom-cli --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --features timeloom-cli/full --quiet

header: ## write crates/capi/include/timeloom.h anew (needs `cargo install cbindgen --version 0.29.4`)
	cbindgen --config crates/capi/cbindgen.toml crates/capi --output crates/capi/include/timeloom.h

fmt: ## format all Rust code
	@scripts/setup.sh lint
	cargo fmt --all

package: ## build Debian packages and wheels for x86-64 and arm64 and run them on old and new systems (TARGETS=x86_64)
	@scripts/setup.sh rust packages package
	@scripts/package.sh
