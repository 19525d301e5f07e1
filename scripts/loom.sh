#!/usr/bin/env bash
# The loom models (`loom_models` in each crate below): every interleaving up to the number of preemptions that each
# model names.
set -euo pipefail
cd "$(dirname "$0")/.."

printf '\n== loom models\n'
rooms=(time trace wire bag node view)
# `--cfg loom` changes every crate of the build: its own target directory keeps the normal build warm.
RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" \
    cargo test "${rooms[@]/#/-ptimeloom-}" --profile loom --lib \
    --target-dir "${CARGO_TARGET_DIR:-target}/loom" "$@" -- loom_models
