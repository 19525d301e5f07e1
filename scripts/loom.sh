#!/usr/bin/env bash
# The loom models of timeloom-time (crates/time/src/loom_models.rs): every interleaving up to the number of
# preemptions that each model names.
set -euo pipefail
cd "$(dirname "$0")/.."

printf '\n== loom models\n'
# `--cfg loom` changes every crate of the build: its own target directory keeps the normal build warm.
RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" \
    cargo test -p timeloom-time --release --lib --target-dir "${CARGO_TARGET_DIR:-target}/loom" -- loom_models
