#!/usr/bin/env bash
# The fault campaign (crates/chaos): MINUTES=5, SEED=…, ONLY=…, WORKERS=3; arguments go to it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ -n ${TIMELOOM_PYTHON:-} ]] || scripts/setup.sh python
TIMELOOM_PYTHON=${TIMELOOM_PYTHON:-$PWD/.venv/bin/python}
export TIMELOOM_PYTHON
# The tests have just built the binary, with the features of the whole workspace.
[[ -n ${TIMELOOM_BUILT:-} ]] || cargo build --quiet -p timeloom-cli --features zenoh
cargo build --quiet -p timeloom-chaos
target=${CARGO_TARGET_DIR:-target}
exec nice -n 5 "$target/debug/timeloom-chaos" \
    --minutes "${MINUTES:-5}" --workers "${WORKERS:-3}" --only "${ONLY:-}" ${SEED:+--seed "$SEED"} "$@"
