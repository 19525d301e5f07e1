#!/usr/bin/env bash
# The loom models of timeloom-time: every interleaving up to LOOM_MAX_PREEMPTIONS preemptions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -f crates/time/tests/loom.rs ]]; then
    printf '\n== loom models: none (no crates/time/tests/loom.rs)\n'
    exit 0
fi

printf '\n== loom models\n'
# `--cfg loom` changes every crate of the build: its own target directory keeps the normal build warm.
RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-3}" \
    cargo test -p timeloom-time --release --test loom --target-dir "${CARGO_TARGET_DIR:-target}/loom"
