#!/usr/bin/env bash
# Installs a wheel into an empty venv of every Python that is here, from 3.9 on, and runs the tests of the package there.
#
#   scripts/package_wheel_try.sh WHEEL
#
#   PYTHONS   paths of interpreters; without it those of the PATH and of pyenv, the newest of each minor version
#
# numpy comes with the wheel; pytest and what tables are handed to are installed besides, as far as they are there for that
# Python: tests that need more are skipped, and named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

wheel=${1:?usage: scripts/package_wheel_try.sh WHEEL}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# `minor path`, one line for each minor version.
pythons() {
    local python
    for python in ${PYTHONS:-/usr/bin/python3.* /usr/local/bin/python3.* "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python}; do
        "$python" -c 'import sys; sys.version_info >= (3, 9) and print(sys.version_info[1], sys.executable)' 2>/dev/null || true
    done | sort -k 1,1n -s | awk '!seen[$1]++ { print $2 }'
}

found=0
for python in $(pythons); do
    version=$("$python" -c 'import platform; print(platform.python_version())')
    printf '\n== Python %s\n' "$version"
    venv=$folder/$version
    "$python" -m venv "$venv" || { echo "skipped: $python has no venv"; continue; }
    pip=("$venv/bin/pip" -q --disable-pip-version-check install)
    "${pip[@]}" "$wheel"
    # Without anything but numpy: the binary, and a bag.
    (cd "$folder" && "$venv/bin/timeloom" --version && "$venv/bin/python" -m timeloom --version >/dev/null)
    "$venv/bin/python" -c \
        'import sys, timeloom; assert timeloom.open(sys.argv[1])["/imu/data"].to_numpy()["log_time"].size == 207' \
        "$PWD/testdata/bags/mcap_plain"
    "${pip[@]}" pytest
    for package in pyarrow pandas polars duckdb tqdm rosbags; do
        "${pip[@]}" --only-binary=:all: "$package" 2>/dev/null || echo "not there for Python $version: $package"
    done
    "$venv/bin/python" -m pytest -q -rs -p no:cacheprovider python/tests
    found=$((found + 1))
    rm -rf "$venv"
done
[[ $found -gt 0 ]] || { echo "no Python from 3.9 on was found" >&2; exit 1; }
printf '\n%s versions of Python passed\n' "$found"
