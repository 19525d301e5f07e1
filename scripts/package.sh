#!/usr/bin/env bash
# Builds the Debian package and the wheel, installs both where nothing else is, and runs them there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n== %s\n' "$*"; }
work=$PWD/target/package
target=${CARGO_TARGET_DIR:-$PWD/target}
bag=testdata/bags
rm -rf "$work"
mkdir -p "$work/completions"

step "tools: maturin (in a venv), cargo-deb"
python3 -m venv "$work/venv-build"
"$work/venv-build/bin/pip" -q install 'maturin>=1.9,<2'
cargo deb --version >/dev/null 2>&1 || cargo install cargo-deb --locked

step "binary"
cargo build --release -p timeloom-cli --features "${FEATURES:-full}"
timeloom=$target/release/timeloom
"$timeloom" manual "$work/man1"
"$timeloom" completions bash > "$work/completions/timeloom.bash"
"$timeloom" completions zsh > "$work/completions/_timeloom"
"$timeloom" completions fish > "$work/completions/timeloom.fish"

step "Debian package"
cargo deb -q -p timeloom-cli --no-build --no-strip -o "$work/"

step "wheel"
"$work/venv-build/bin/maturin" build -q --release --features "${FEATURES:-full}" --out "$work"

step "try the Debian package in an empty root"
deb=$(ls "$work"/timeloom_*.deb)
root=$work/root
mkdir -p "$root"
dpkg-deb -x "$deb" "$root"
dpkg-deb -I "$deb" | grep -E 'Package|Version|Depends'
test -x "$root/usr/bin/timeloom"
gzip -cd "$root/usr/share/man/man1/timeloom.1.gz" 2>/dev/null | grep -q timeloom || grep -q timeloom "$root/usr/share/man/man1/timeloom.1"
# Only what the package depends on: the C library and what else `ldd` names, copied beside it.
ldd "$root/usr/bin/timeloom" | awk '/=> \//{print $3} /^\t\/lib/{print $1}' | while read -r library; do
    install -D "$library" "$root$library"
done
cp -r "$bag" "$root/bag"
sample=mcap_plain
if [ "$(id -u)" = 0 ]; then
    chroot "$root" /usr/bin/timeloom info "/bag/$sample"
else
    unshare -r chroot "$root" /usr/bin/timeloom info "/bag/$sample"
fi

step "try the wheel in an empty venv"
python3 -m venv "$work/venv-try"
"$work/venv-try/bin/pip" -q install --no-index "$(ls "$work"/timeloom-*.whl)"
(
    cd "$work"
    "$work/venv-try/bin/timeloom" --version
    PATH=/usr/bin:/bin "$work/venv-try/bin/python" - "$root/bag/$sample" <<'PY'
import sys
from timeloom import AnyReader

with AnyReader(sys.argv[1]) as reader:
    count = sum(1 for connection, _, raw in reader.messages() if reader.deserialize(raw, connection.msgtype))
    assert count == reader.message_count > 0, (count, reader.message_count)
    print(f"{count} messages of {len(reader.connections)} topics decoded")
PY
)
step "done"
ls -l "$work"/*.deb "$work"/*.whl
