#!/usr/bin/env bash
# Everything `make check` runs: format, clippy and unit tests of the crates that differ from main.
#
#   scripts/check.sh [CRATE...]     these crates instead, such as `bag cli`
#
# With default features, so without DataFusion and Zenoh: `make lint` and `make test` have the full ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The crates with files that differ from main: committed, changed or new.
changed() {
    local base
    base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
    { git diff --name-only "$base" && git ls-files --others --exclude-standard; } |
        sed -nE 's#^crates/([^/]+)/.*\.(rs|toml)$#\1#p; s#^(xtask|examples)/.*\.(rs|toml)$#\1#p' | sort -u
}

if [ $# -eq 0 ]; then
    mapfile -t rooms < <(changed)
else
    rooms=("$@")
fi
packages=()
for room in "${rooms[@]}"; do
    case $room in
        xtask) packages+=(-p xtask) ;;
        examples) packages+=(-p timeloom-examples) ;;
        *) [ -d "crates/$room" ] && packages+=(-p "timeloom-$room") ;;
    esac
done

cargo fmt --all --check
if [ ${#packages[@]} -eq 0 ]; then
    echo "check: no crate differs from main"
    exit 0
fi
echo "check: ${rooms[*]}"
cargo clippy "${packages[@]}" --all-targets --quiet -- -D warnings
if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run "${packages[@]}" --lib --bins --no-tests pass
else
    cargo test "${packages[@]}" --lib --bins --quiet
fi
