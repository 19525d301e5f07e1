#!/usr/bin/env bash
# What loom cannot see, by the tools of a nightly toolchain: ThreadSanitizer on the rooms with threads, Miri on `msg`
# and `time`. Not part of `make test`: the toolchain of the project is stable.
#
#   rustup toolchain install nightly --component rust-src --component miri
#   scripts/sanitize.sh [thread|miri]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

nightly=${NIGHTLY:-nightly}
target=${CARGO_TARGET_DIR:-target}/sanitize
host=$(rustc -vV | sed -n 's/^host: //p')

thread() {
    printf '\n== ThreadSanitizer\n'
    # The standard library is built along with it: its own synchronisation must be seen too.
    RUSTFLAGS="-Zsanitizer=thread" TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/scripts/tsan.supp" \
        cargo "+$nightly" test -Zbuild-std --target "$host" --target-dir "$target" \
        -p timeloom-time -p timeloom-trace -p timeloom-wire -p timeloom-bag -p timeloom-node \
        --lib --tests "$@"
}

miri() {
    printf '\n== Miri\n'
    # Files and the machine's clocks are real: what is tested needs a few of both.
    MIRIFLAGS="-Zmiri-disable-isolation" PROPTEST_CASES=4 \
        cargo "+$nightly" miri test --target-dir "$target" -p timeloom-msg -p timeloom-time --lib "$@"
}

case ${1:-all} in
    thread) shift; thread "$@" ;;
    miri) shift; miri "$@" ;;
    all) thread; miri ;;
    *) echo "usage: scripts/sanitize.sh [thread|miri]" >&2; exit 2 ;;
esac
