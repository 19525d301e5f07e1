#!/usr/bin/env bash
# Runs the packages on a system that has nothing but what they depend on.
#
#   scripts/package_try.sh ARCH DISTRIBUTION SUITE DIRECTORY [PYTHON WHEEL]
#
# DIRECTORY holds the .deb files and their index `Packages`. PYTHON is the system's package of the Python that the wheel is
# tried with: numpy and what tables are handed to come from PyPI, as far as they are there for that Python and machine.
# The system of the machine's own kind is entered by chroot, a foreign one is run by qemu-user. The network is 127.0.0.1 only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

arch=$1 distribution=$2 suite=$3 directory=$4 python=${5:-} wheel=${6:-}
root=$directory/try/$arch-$suite
sample=mcap_plain

fail() {
    printf 'package: %s %s %s: %s\n' "$arch" "$distribution" "$suite" "$*" >&2
    exit 1
}

# `apt` takes the package and what it depends on: a dependency that the system does not have ends here.
# numpy of PyPI needs libstdc++.
scripts/package_root.sh "$arch" "$distribution" "$suite" "$root" timeloom ${python:+"$python" libstdc++6} \
    "deb [trusted=yes] copy:$directory ./"
mkdir "$root/try"
cp -r "testdata/bags/$sample" "$root/try/bag"

# A program of the system, and how it sees the path /try.
if [[ $arch == "$(uname -m)" ]]; then
    try=/try
    user=()
    [[ $(id -u) == 0 ]] || user=(--map-root-user)
    # Devices and processes as on any system; they are gone with the command.
    enter='mount --rbind /dev "$0/dev" && mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"'
    inside() { timeout 300 unshare --mount "${user[@]}" sh -c "$enter" "$root" "$@"; }
else
    try=$root/try
    inside() { timeout "${LIMIT:-300}" "qemu-$arch" -L "$root" "$root$1" "${@:2}"; }
fi
timeloom() { inside /usr/bin/timeloom "$@"; }

# Exit code 0, or 3 where that is said: finished, with a loss that was counted.
may_lose() { "$@" || [[ $? == 3 ]]; }

timeloom --version
timeloom info "$try/bag" | grep -q 'Messages: *458' || fail "info counts other messages"
[[ -s $root/usr/share/man/man1/timeloom.1.gz && -s $root/usr/share/bash-completion/completions/timeloom ]] ||
    fail "no man page or no completions"

# The same messages through both storages and back, and on every machine. sqlite3 has no place for the time of publishing.
messages() { timeloom cat "$1" | sed 's/"publish_time":[0-9]*,//'; }
timeloom convert "$try/bag" -o "$try/sqlite3" -s sqlite3 2>/dev/null
timeloom convert "$try/sqlite3" -o "$try/mcap" -s mcap --storage-preset-profile zstd_fast 2>/dev/null
messages "$try/bag" > "$root/try/messages"
messages "$try/mcap" | cmp - "$root/try/messages" || fail "messages changed between storages"
cmp "$root/try/messages" "${reference:=$directory/try/messages}" 2>/dev/null || {
    [[ ! -e $reference ]] || fail "messages differ from those of another machine, see $reference"
    cp "$root/try/messages" "$reference"
}

cp -r "testdata/bags/$sample" "$root/try/cut"
truncate -s 200000 "$root/try/cut/"*.mcap
may_lose timeloom recover "$try/cut" >/dev/null 2>&1 || fail "recover failed"
timeloom info "$try/cut" | grep 'Messages:'

# Reliable topics over DDS, from one process to another.
export ROS_DOMAIN_ID=$((RANDOM % 100 + 101))
topics=(/chatter /keep_all /tf)
timeloom record --localhost --max-recording-messages 90 --max-recording-duration 60s -o "$try/recorded" \
    --topics "${topics[@]}" </dev/null >"$root/try/record.log" 2>&1 &
recorder=$!
timeloom burst --localhost --wait-for-subscribers 1 "$try/bag" --topics "${topics[@]}" \
    --exclude-services /add_two_ints </dev/null \
    >"$root/try/burst.log" 2>&1 || fail "burst: $(cat "$root/try/burst.log")"
wait "$recorder" || fail "record: $(cat "$root/try/record.log")"
timeloom info "$try/recorded" | grep 'Messages: *90$' || fail "recorded other than 90 messages"

if timeloom query 'SELECT count(*) AS n FROM messages' "$try/bag" --format csv >"$root/try/query" 2>&1; then
    grep -qx 458 "$root/try/query" || fail "query: $(cat "$root/try/query")"
else
    grep -q 'features' "$root/try/query" || fail "query: $(cat "$root/try/query")"
    echo "built without query"
fi

[[ -n $wheel ]] || exit 0
python=$(cd "$root" && printf '%s\n' usr/bin/"$python"* | grep -m 1 -E '/python3[.][0-9]+$')
version=${python#*python}
# What the system would take: wheels up to its glibc (2.40 is the latest that uv knows).
glibc=$(grep -aoE -m 1 'release version [0-9]+[.][0-9]+' "$root/lib/$arch-linux-gnu/libc.so.6" | grep -oE '[0-9.]+$')
glibc=$(printf '%s\n' "$glibc" 2.40 | sort -V | head -n 1)
install=(uv pip install -q --only-binary :all: --python-version "$version" --python-platform "$arch-manylinux_${glibc/./_}"
    --target "$root/try/wheel")
"${install[@]}" "$wheel" pytest
for package in pyarrow pandas polars duckdb tqdm rosbags pillow; do
    "${install[@]}" "$package" 2>/dev/null || echo "not there for Python $version on $arch: $package"
done
binary=$try/wheel/bin/timeloom
if [[ $arch != "$(uname -m)" ]]; then
    # A program of the foreign machine cannot start another: the emulator has to be named each time.
    emulated() {
        printf '#!/bin/sh\nexec qemu-%s -L %q %q "$@"\n' "$arch" "$root" "$2" > "$1"
        chmod +x "$1"
    }
    binary=$root/try/run
    emulated "$binary" "$try/wheel/bin/timeloom"
    emulated "$root/try/run-python" "$root/$python"
    echo "import sys; sys.executable = '$root/try/run-python'" > "$root/try/wheel/sitecustomize.py"
fi
# The tests, and what they read.
mkdir -p "$root/try/tree/python" "$root/try/tree/testdata" "$root/try/tree/docs" "$root/try/tree/examples"
cp -r python/tests "$root/try/tree/python/"
cp -r testdata/bags "$root/try/tree/testdata/"
cp -r docs/notebooks docs/python.md "$root/try/tree/docs/"
cp -r examples/python "$root/try/tree/examples/"
mkdir -p "$root/tmp"
echo "Python $version, glibc $glibc:"
PYTHONPATH=$try/wheel PYTHONDONTWRITEBYTECODE=1 TIMELOOM_BINARY=$binary LIMIT=3600 \
    inside "/$python" -m pytest -q -rs -p no:cacheprovider "$try/tree/python/tests"
