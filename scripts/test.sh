#!/usr/bin/env bash
# Everything `make test` runs: unit and behaviour tests, a few faults, documentation examples, the no_std build, loom models.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n== %s\n' "$*"; }

# The interop tests find their Python by this name; no such test, no venv.
if grep -rqs TIMELOOM_PYTHON crates/*/tests; then
    scripts/setup.sh optional python
    TIMELOOM_PYTHON=${TIMELOOM_PYTHON:-$PWD/.venv/bin/python}
    export TIMELOOM_PYTHON
fi

# With every feature that a released binary has; the room is built for its own tests anyway.
features=(--features timeloom-cli/full)

if cargo nextest --version >/dev/null 2>&1; then
    step "tests (nextest)"
    cargo nextest run --workspace "${features[@]}"
else
    step "tests (cargo test; cargo-nextest would be faster: cargo install cargo-nextest --locked)"
    cargo test --workspace "${features[@]}" --lib --bins --tests
fi

step "faults (a few of make chaos)"
TIMELOOM_BUILT=yes scripts/chaos.sh --smoke

step "documentation examples"
cargo test --workspace "${features[@]}" --doc

step "timeloom-time without std"
cargo build -p timeloom-time --no-default-features

scripts/loom.sh
