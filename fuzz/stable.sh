#!/bin/sh
# Runs one target with libFuzzer on stable Rust: coverage counters, overflow checks, debug assertions, no sanitizers.
# usage: stable.sh <target> <seconds>; the targets are in fuzz/Cargo.toml
# It starts from corpus/<target> and writes what it finds below FUZZ_OUT (fuzz/out).
# With ASAN=1 and nightly Rust, the address sanitizer too.
set -eu
target=$1
seconds=${2:-60}
cd "$(dirname "$0")"
RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1 \
-Cdebug-assertions=yes -Coverflow-checks=yes${ASAN:+ -Zsanitizer=address}"
export RUSTFLAGS
triple=$(rustc -vV | sed -n 's/^host: //p')
features=
[ "$target" != zenoh ] || features="--features zenoh"
# shellcheck disable=SC2086 # no feature is no word
[ -n "${FUZZ_BUILT:-}" ] || cargo ${ASAN:+"+nightly"} build --release --target "$triple" --bin "$target" $features
out=${FUZZ_OUT:-$PWD/out}
mkdir -p "$out/corpus/$target" "$out/artifacts/$target"
# Whole files need more room than texts.
case $target in
bag | sqlite) longest=40000 ;;
mcap) longest=12000 ;;
*) longest=4096 ;;
esac
exec "${CARGO_TARGET_DIR:-target}/$triple/release/$target" -max_total_time="$seconds" \
    -rss_limit_mb=2048 -timeout=10 -max_len="${MAX_LEN:-$longest}" -artifact_prefix="$out/artifacts/$target/" \
    -print_final_stats=1 "$out/corpus/$target" "corpus/$target"
