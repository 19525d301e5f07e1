#!/usr/bin/env bash
# Installs what the make targets miss, and nothing else.
#
#   scripts/setup.sh [rust] [lint] [packages] [optional] [python] [package]
#
#   rust      checks that cargo is there and new enough
#   lint      checks that rustfmt and clippy are there, adds them by rustup
#   packages  Debian packages (by apt as root or with passwordless sudo)
#   optional  Debian packages that only some tests use; never fails
#   python    .venv with scripts/requirements-test.txt, for the interop tests
#   package   Debian packages and Rust targets that `make package` needs
#
# Without arguments: all of them but `package`. Silent when nothing is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Every Debian package that a build or a test needs. This is the only list.
DEBIAN_PACKAGES=(
    build-essential # C compiler and linker: Rust links with it, bundled C (sqlite, zstd) is built with it
    cmake           # builds Cyclone DDS (timeloom-dds)
    pkg-config      # lets build scripts find system libraries
    python3-venv    # the interop tests run foreign bag readers from a venv
)

# Debian packages that tests use when they are there: without one, its tests say that they were skipped.
OPTIONAL_PACKAGES=(
    chromium          # the page of `timeloom view` is tested in it, without a screen
    fonts-dejavu-core # so that the pictures of the page have letters
    libfastrtps-dev   # Fast DDS: the interop tests of timeloom-dds build a small peer with it
)

# Debian packages that only `make package` needs.
PACKAGE_PACKAGES=(
    build-essential        # dpkg-dev: the index of a repository; binutils: what a binary needs
    debian-archive-keyring # the signatures of Debian, on a machine that is not Debian
    mmdebstrap             # roots of older and newer systems, to try the packages in
    qemu-user              # runs the packages of the other machine
)

VENV=.venv
REQUIREMENTS=scripts/requirements-test.txt

say() { printf 'setup: %s\n' "$*" >&2; }

fail() {
    printf 'setup: %s\n' "$1" >&2
    printf '  run: %s\n' "${@:2}" >&2
    exit 1
}

need_rust() {
    command -v cargo >/dev/null || fail "cargo is missing (looked in PATH and ~/.cargo/bin)" \
        "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"
    local wanted have
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    have=$(cargo --version | cut -d ' ' -f 2)
    [[ $(printf '%s\n' "$wanted" "$have" | sort -V | head -n 1) == "$wanted" ]] && return
    fail "Rust $have is too old, $wanted or newer is needed" "rustup update stable"
}

need_lint() {
    need_rust
    local missing=()
    cargo fmt --version >/dev/null 2>&1 || missing+=(rustfmt)
    cargo clippy --version >/dev/null 2>&1 || missing+=(clippy)
    [[ ${#missing[@]} -eq 0 ]] && return
    command -v rustup >/dev/null || fail "missing: ${missing[*]}; there is no rustup to add them" \
        "install Rust with rustup (https://rustup.rs), or your distribution's ${missing[*]}"
    say "adding ${missing[*]}"
    rustup component add "${missing[@]}"
}

missing_packages() {
    local package
    for package in "$@"; do
        dpkg -s "$package" 2>/dev/null | grep -q '^Status: install ok installed' || printf '%s\n' "$package"
    done
}

need_packages() {
    if ! command -v dpkg >/dev/null; then
        command -v cc >/dev/null && return
        fail "this is no Debian system and there is no C compiler" \
            "install the equivalents of: ${DEBIAN_PACKAGES[*]}"
    fi
    install_missing "${DEBIAN_PACKAGES[@]}"
}

install_missing() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [[ ${#missing[@]} -eq 0 ]] && return
    local as_root=()
    if [[ $EUID -ne 0 ]]; then
        sudo -n true 2>/dev/null || fail "missing Debian packages: ${missing[*]}" \
            "sudo apt-get update && sudo apt-get install -y ${missing[*]}"
        as_root=(sudo -n)
    fi
    say "installing ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

need_package() {
    command -v dpkg >/dev/null || fail "packages are made on Debian or Ubuntu: there is no dpkg" \
        "install the equivalents of: ${PACKAGE_PACKAGES[*]}"
    install_missing "${PACKAGE_PACKAGES[@]}"
    local arch target
    for arch in ${TARGETS:-x86_64 aarch64}; do
        target=$arch-unknown-linux-gnu
        [[ -d $(rustc --print target-libdir --target "$target" 2>/dev/null) ]] && continue
        command -v rustup >/dev/null || fail "Rust cannot build for $target; there is no rustup to add it" \
            "install Rust with rustup (https://rustup.rs), or set TARGETS=$(uname -m)"
        say "adding $target"
        rustup target add "$target"
    done
}

need_optional() {
    command -v dpkg >/dev/null || return 0
    local missing as_root=()
    mapfile -t missing < <(missing_packages "${OPTIONAL_PACKAGES[@]}")
    [[ ${#missing[@]} -eq 0 ]] && return
    if [[ $EUID -ne 0 ]]; then
        sudo -n true 2>/dev/null || { say "not installed, some tests will be skipped: ${missing[*]}"; return 0; }
        as_root=(sudo -n)
    fi
    say "installing ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
        say "could not be installed, some tests will be skipped: ${missing[*]}"
}

need_python() {
    local installed=$VENV/requirements.installed
    if [[ -x $VENV/bin/python ]] && cmp -s "$REQUIREMENTS" "$installed"; then return; fi
    need_packages
    say "making $VENV from $REQUIREMENTS"
    python3 -m venv --clear "$VENV"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r "$REQUIREMENTS" ||
        fail "the test packages of $REQUIREMENTS could not be installed into $VENV" \
            "$VENV/bin/python -m pip install -r $REQUIREMENTS"
    cp "$REQUIREMENTS" "$installed"
}

[[ $# -gt 0 ]] || set -- rust lint packages optional python
for part in "$@"; do
    case $part in
    rust | lint | packages | optional | python | package) "need_$part" ;;
    *) fail "unknown part: $part" "scripts/setup.sh [rust] [lint] [packages] [optional] [python] [package]" ;;
    esac
done
