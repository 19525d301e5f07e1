#!/usr/bin/env bash
# Everything `make test` and `make test-quick` run: unit and behaviour tests, a few faults, documentation examples, the no_std
# build, loom models.
#
#   scripts/test.sh [--quick]     with --quick without SQL: DataFusion takes longer to build than the rest of the workspace
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n== %s\n' "$*"; }

# The interop tests find their Python by this name.
scripts/setup.sh optional python
TIMELOOM_PYTHON=${TIMELOOM_PYTHON:-$PWD/.venv/bin/python}
export TIMELOOM_PYTHON

if [ "${1:-}" = --quick ]; then
    # With the default features of the binary: without DataFusion, and without Zenoh and object storage in the binary.
    build=(--workspace --exclude timeloom-query)
else
    # With every feature that a released binary has.
    build=(--workspace --features timeloom-cli/full)
fi

if cargo nextest --version >/dev/null 2>&1; then
    step "tests (nextest)"
    # Two tests per core: most of them wait for other processes.
    cargo nextest run "${build[@]}" --test-threads "$((2 * $(nproc)))"
    if [ "${1:-}" != --quick ]; then
        step "unit tests of the binary with default features"
        cargo nextest run -p timeloom-cli --bins
    fi
else
    step "tests (cargo test; cargo-nextest would be faster: cargo install cargo-nextest --locked)"
    cargo test "${build[@]}" --lib --bins --tests
fi

step "faults (a few of make chaos)"
TIMELOOM_BUILT=yes scripts/chaos.sh --smoke

step "documentation examples"
cargo test "${build[@]}" --doc

step "timeloom-time without std"
cargo build -p timeloom-time --no-default-features

scripts/loom.sh
