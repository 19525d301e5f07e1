#!/bin/sh
# Runs one target with libFuzzer on stable Rust: coverage counters, no sanitizers.
# usage: stable.sh <target> <seconds>; the targets are in fuzz/Cargo.toml
set -eu
target=$1
seconds=${2:-60}
cd "$(dirname "$0")"
RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1 \
-Cdebug-assertions=yes -Coverflow-checks=yes"
export RUSTFLAGS
triple=$(rustc -vV | sed -n 's/^host: //p')
cargo build --release --target "$triple" --bin "$target"
mkdir -p "corpus/$target" artifacts
exec "${CARGO_TARGET_DIR:-target}/$triple/release/$target" -max_total_time="$seconds" \
  -rss_limit_mb=1024 -timeout=10 -max_len="${MAX_LEN:-4096}" -artifact_prefix=artifacts/ -print_final_stats=1 "corpus/$target"
