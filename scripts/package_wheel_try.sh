#!/usr/bin/env bash
# Installs a wheel into an empty venv of every Python that is here, from 3.9 on, and runs the tests of the package there.
#
#   scripts/package_wheel_try.sh WHEEL
#   scripts/package_wheel_try.sh --list    only print the interpreters that it would take
#
#   PYTHONS   paths of interpreters; without it those of /usr, /usr/local and pyenv, one of each minor version
#
# numpy comes with the wheel; pytest and what tables are handed to are installed besides, as far as they are there for that
# Python: tests that need more are skipped, and named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

wheel=${1:?usage: scripts/package_wheel_try.sh WHEEL}

# The path of an interpreter for each minor version, oldest first. Debian's Python has no `ensurepip` without python3-venv.
pythons() {
    local python
    for python in ${PYTHONS:-/usr/bin/python3.* /usr/local/bin/python3.* "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python}; do
        # Not python3.11-config and the like.
        [[ ${python##*/} =~ ^python(3\.[0-9]+)?$ ]] || [[ -n ${PYTHONS:-} ]] || continue
        "$python" -c \
            'import ensurepip, sys; sys.version_info >= (3, 9) and print(sys.version_info[1], sys.executable)' 2>/dev/null || true
    done | sort -k 1,1n -s | awk '!seen[$1]++ { print $2 }'
}

[[ $wheel != --list ]] || { pythons; exit; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Installs, reads a bag and runs the tests with one interpreter.
try() {
    local python=$1 version=$2 venv=$folder/$2 package
    "$python" -m venv "$venv" || return
    local pip=("$venv/bin/pip" -q --disable-pip-version-check install)
    "${pip[@]}" "$wheel" || return
    # Without anything but numpy: the binary, and a bag.
    (cd "$folder" && "$venv/bin/timeloom" --version && "$venv/bin/python" -m timeloom --version >/dev/null) || return
    "$venv/bin/timeloom" info testdata/bags/mcap_plain | grep -q 'Messages: *458' || return
    "$venv/bin/python" -c \
        'import sys, timeloom; assert timeloom.open(sys.argv[1])["/imu/data"].to_numpy()["log_time"].size == 207' \
        "$PWD/testdata/bags/mcap_plain" || return
    "${pip[@]}" pytest || return
    for package in pyarrow pandas polars duckdb tqdm rosbags pillow; do
        "${pip[@]}" --only-binary=:all: "$package" 2>/dev/null || echo "not there for Python $version: $package"
    done
    PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" -m pytest -q -rs -p no:cacheprovider python/tests || return
    rm -rf "$venv"
}

passed=() failed=()
for python in $(pythons); do
    version=$("$python" -c 'import platform; print(platform.python_version())')
    printf '\n== Python %s, %s\n' "$version" "$python"
    if try "$python" "$version"; then passed+=("$version"); else failed+=("$version"); fi
done
printf '\nPython of which the tests passed: %s\n' "${passed[*]:-none}"
[[ ${#failed[@]} == 0 ]] || { echo "Python of which they failed: ${failed[*]}" >&2; exit 1; }
[[ ${#passed[@]} -gt 0 ]] || { echo "no Python from 3.9 on was found (a venv needs ensurepip: python3-venv)" >&2; exit 1; }
