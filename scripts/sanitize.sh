#!/usr/bin/env bash
# What loom cannot see, by the tools of a nightly toolchain: ThreadSanitizer on the rooms with threads, Miri on `msg`
# and `time`. Not part of `make test`: the toolchain of the project is stable.
#
#   rustup toolchain install nightly --component rust-src --component miri
#   scripts/sanitize.sh [thread|miri]      ROOMS='time wire' for some rooms
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

nightly=${NIGHTLY:-nightly}
target=${CARGO_TARGET_DIR:-target}/sanitize
host=$(rustc -vV | sed -n 's/^host: //p')

if ! cargo "+$nightly" miri --version >/dev/null 2>&1; then
    echo "sanitize: a nightly toolchain with its sources and Miri is missing; get it with" >&2
    echo "    rustup toolchain install nightly --component rust-src --component miri" >&2
    exit 1
fi

thread() {
    local rooms
    read -ra rooms <<<"${ROOMS:-time trace wire node bag}"
    printf '\n== ThreadSanitizer\n'
    # The standard library is built along with it: its own synchronisation must be seen too.
    RUSTFLAGS="-Zsanitizer=thread" TSAN_OPTIONS="halt_on_error=1" PROPTEST_CASES=8 \
        cargo "+$nightly" test -Zbuild-std --target "$host" --target-dir "$target" --no-fail-fast \
        "${rooms[@]/#/-ptimeloom-}" --lib --tests "$@"
}

miri() {
    printf '\n== Miri\n'
    # The machine's clocks are real, but Miri has no `prctl` (`machine::`). `tiny_messages_are_counted` decodes eight million elements: hours, here.
    MIRIFLAGS="-Zmiri-disable-isolation" PROPTEST_CASES=2 \
        cargo "+$nightly" miri test --target-dir "$target" --no-fail-fast \
        -p timeloom-time -p timeloom-msg --lib "$@" -- --skip tiny_messages_are_counted --skip machine::
}

case ${1:-all} in
    thread) shift; thread "$@" ;;
    miri) shift; miri "$@" ;;
    all) thread; miri ;;
    *) echo "usage: scripts/sanitize.sh [thread|miri]" >&2; exit 2 ;;
esac
