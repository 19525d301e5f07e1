#!/usr/bin/env bash
# Builds a Debian package and a wheel for each target, checks what they need, and runs them on the systems they are for.
#
#   scripts/package.sh           build, check, try (`make package`)
#   scripts/package.sh --plan    print what that would build, from which files, and where it would try them
#   scripts/package.sh --check ARCH BINARY    only check that a binary needs no more than the packages promise
#   scripts/package.sh --check-wheel ARCH WHEEL    only check the same of a wheel, and its tag, by auditwheel
#   scripts/package.sh --wheel BINARY         only a wheel for this machine, with a binary that is there: quick, for trying
#                                             the Python package (scripts/package_wheel_try.sh)
#
#   TARGETS   "x86_64 aarch64" unless set; either of them is built on either of them
#   FEATURES  of timeloom-cli; "full" unless set, may be empty
#   MODULE_FEATURES  of timeloom-python; "zenoh" unless set, may be empty
#   WHEEL_PROFILE    of --wheel; "release" unless set
#
# Features are separated by commas. To try the packaging itself, without DataFusion and the optimiser:
#
#   CARGO_PROFILE_DIST_OPT_LEVEL=0 FEATURES=remote,zenoh TARGETS=x86_64 scripts/package.sh
#
# Both targets are linked by zig against the symbols of an old glibc, so that one binary runs on every later one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

TARGETS=${TARGETS:-x86_64 aarch64}
FEATURES=${FEATURES-full}
# Of the Python module: what the binary has, too.
MODULE_FEATURES=${MODULE_FEATURES-zenoh}
# The oldest glibc that the packages run with: of Debian 10, Ubuntu 20.04 (JetPack 5) has 2.31.
GLIBC=2.28
# The tag that pip compares with the system.
PLATFORM=manylinux_${GLIBC/./_}

# Files of the Debian package beside the binary: where from, where to. Man pages and completions are made by the binary.
DEB_FILES=(
    "README.md usr/share/doc/timeloom/README.md"
    "CHANGELOG.md usr/share/doc/timeloom/changelog"
    "scripts/deb/copyright usr/share/doc/timeloom/copyright"
)
# Completions: the shell, and where it looks for them.
COMPLETIONS=(
    "bash usr/share/bash-completion/completions/timeloom"
    "zsh usr/share/zsh/vendor-completions/_timeloom"
    "fish usr/share/fish/vendor_completions.d/timeloom.fish"
)

step() { printf '\n== %s\n' "$*"; }

fail() {
    printf 'package: %s\n' "$*" >&2
    exit 1
}

# What Debian calls the machine.
deb_architecture() {
    case $1 in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) fail "TARGETS: unknown target $1 (known: x86_64 aarch64)" ;;
    esac
}

# Where the packages are tried: distribution, suite, and the package of its Python where that is new enough (3.9).
# Debian's testing has Python 3.15. Ubuntu before 26.04 has arm64 on a mirror of its own, ports.ubuntu.com, which not every
# network reaches; glibc of Debian 11, 12 and 13 (2.31, 2.36, 2.41) is around that of Ubuntu 22.04 (2.35) and 24.04 (2.39).
systems() {
    case $1 in
    x86_64) printf '%s\n' "ubuntu focal" "ubuntu jammy python3" "ubuntu noble python3" "ubuntu resolute python3" \
        "debian forky python3.15" ;;
    aarch64) printf '%s\n' "debian bullseye python3" "debian bookworm python3" "debian trixie python3" \
        "ubuntu resolute python3" ;;
    esac
}

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
work=$PWD/target/package
target=${CARGO_TARGET_DIR:-$PWD/target}
host=$(uname -m)

deb_of() { echo "$work/timeloom_$version-1_$(deb_architecture "$1").deb"; }
wheel_of() { echo "$work/timeloom-$version-cp39-abi3-${PLATFORM}_$1.whl"; }
binary_of() { echo "$target/$1-unknown-linux-gnu/dist/timeloom"; }
module_of() { echo "$target/$1-unknown-linux-gnu/dist/libtimeloom_python.so"; }

plan() {
    local arch line
    for arch in $TARGETS; do
        printf 'target %s-unknown-linux-gnu glibc %s features %s\n' "$arch" "$GLIBC" "${FEATURES:-none}"
        printf 'deb %s\n' "$(basename "$(deb_of "$arch")")"
        printf 'wheel %s\n' "$(basename "$(wheel_of "$arch")")"
        systems "$arch" | while read -r line; do printf 'try %s %s\n' "$arch" "$line"; done
    done
    printf 'file %s\n' "${DEB_FILES[@]%% *}" scripts/deb/control.in \
        scripts/package_root.sh scripts/package_try.sh scripts/package_wheel_try.sh scripts/requirements-package.txt
}

tools() {
    local venv=$target/package-venv requirements=scripts/requirements-package.txt
    if ! cmp -s "$requirements" "$venv/installed"; then
        python3 -m venv --clear "$venv"
        "$venv/bin/pip" -q install --disable-pip-version-check -r "$requirements"
        cp "$requirements" "$venv/installed"
    fi
    PATH=$venv/bin:$PATH
}

# `timeloom-cli/query,timeloom-cli/remote` from `timeloom-cli` and `query,remote`; nothing from nothing.
features_of() { [[ -z $2 ]] || sed "s|[^,]*|$1/&|g" <<<"$2"; }

# The binary and the Python module in one build: what both use (Zenoh, object storage, all of Timeloom) is compiled once.
build() {
    local arch=$1 features
    features=$(features_of timeloom-cli "$FEATURES"),$(features_of timeloom-python "$MODULE_FEATURES")
    # The module is for the stable ABI of Python: none has to be there for the target.
    PYO3_NO_PYTHON=1 cargo zigbuild -q --locked --profile dist -p timeloom-cli -p timeloom-python --features "$features" \
        --target "$arch-unknown-linux-gnu.$GLIBC"
}

# A wheel as maturin would make it, with the binary in it: a module, a binary, the tag of the platform.
make_wheel() {
    local module=$1 binary=$2 platform=$3 parts=$work/wheel-$3
    local tree=$parts/timeloom-$version info
    info=$tree/timeloom-$version.dist-info
    rm -rf "$parts"
    mkdir -p "$tree"
    maturin pep517 write-dist-info --quiet --metadata-directory "$tree" >/dev/null
    sed -i "s/^Tag:.*/Tag: cp39-abi3-$platform/" "$info/WHEEL"
    cp -r python/timeloom "$tree/"
    find "$tree/timeloom" -name __pycache__ -prune -exec rm -r {} +
    install "$module" "$tree/timeloom/_native.abi3.so"
    mkdir -p "$tree/timeloom-$version.data"
    cp -r ros/prefix/data "$tree/timeloom-$version.data/data"
    install -D "$binary" "$tree/timeloom-$version.data/scripts/timeloom"
    wheel pack -d "$work" "$tree" >/dev/null
    rm -rf "$parts"
}

# A wheel of this machine's glibc.
wheel_only() {
    local binary=$1 profile=${WHEEL_PROFILE:-release}
    [[ -x $binary ]] || fail "$binary is not a program"
    cargo build -q --locked --profile "$profile" -p timeloom-python ${MODULE_FEATURES:+--features "$MODULE_FEATURES"}
    make_wheel "$target/${profile/#dev/debug}/libtimeloom_python.so" "$binary" "linux_$host"
    ls "$work"/*.whl
}

# Needs no library but those of libc6, no symbol of a later glibc than promised, and carries no symbol table. Kernels of
# arm64 have pages of up to 64 KiB (16 KiB on a Raspberry Pi 5): the segments must be aligned to that.
check_binary() {
    local arch=$1 binary=$2 needed newest
    readelf -h "$binary" | grep -q "Machine:.*$(case $arch in x86_64) echo X86-64 ;; aarch64) echo AArch64 ;; esac)" ||
        fail "$binary is not for $arch"
    needed=$(readelf -d "$binary" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -Ev '^(lib(c|m|dl|rt|pthread|util|resolv)\.so\.[0-9]+|ld-linux-.*\.so\.[0-9]+)$') &&
        fail "$binary needs libraries that libc6 does not have:" $needed
    newest=$(readelf -V "$binary" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
    [[ -n $newest ]] || fail "$binary: no versions of symbols found"
    [[ $(printf '%s\n' "$newest" "GLIBC_$GLIBC" | sort -V | tail -n 1) == "GLIBC_$GLIBC" ]] ||
        fail "$binary needs $newest, the packages promise GLIBC_$GLIBC:" \
            "$(readelf --dyn-syms -W "$binary" | grep -o "[^ ]*@$newest" | sort -u | tr '\n' ' ')"
    [[ $arch != aarch64 ]] || ! readelf -l -W "$binary" | awk '$1 == "LOAD" { print $NF }' | grep -qv '^0x10000$' ||
        fail "$binary has segments that are not aligned to pages of 64 KiB"
    readelf -S -W "$binary" | grep -q ' \.symtab ' && fail "$binary is not stripped"
    printf '%s: %s MB, newest symbol version %s\n' "$arch" "$(($(stat -c %s "$binary") / 1000000))" "$newest"
}

# The wheel's tag is the one of the packages, and what is in it keeps what the tag promises.
check_wheel() {
    local arch=$1 wheel=$2 found
    [[ $wheel == *-"${PLATFORM}_$arch".whl ]] || fail "$wheel is not for ${PLATFORM}_$arch"
    found=$(auditwheel show "$wheel") || fail "auditwheel refuses $wheel"
    grep -qE "\"manylinux_2_[0-9]+_$arch\"" <<<"$found" || fail "$found"
    found=$(grep -oE "\"manylinux_2_[0-9]+_$arch\"" <<<"$found" | head -n 1 | tr -d '"')
    [[ $(printf '%s\n' "$found" "${PLATFORM}_$arch" | sort -V | tail -n 1) == "${PLATFORM}_$arch" ]] ||
        fail "$wheel is for $found by auditwheel, later than ${PLATFORM}_$arch"
    printf '%s: wheel of %s MB, %s by auditwheel\n' "$arch" "$(($(stat -c %s "$wheel") / 1000000))" "$found"
}

# Man pages and completions, the same for every target: by a binary that this machine runs, if one was built.
generate() {
    local run=() arch line
    for arch in $TARGETS; do [[ $arch == "$host" ]] && break; done
    if [[ $arch != "$host" ]]; then
        scripts/package_root.sh "$arch" debian trixie "$work/try/$arch" libc6
        run=("qemu-$arch" -L "$work/try/$arch")
    fi
    "${run[@]}" "$(binary_of "$arch")" manual "$work/generated/usr/share/man/man1"
    gzip -9n "$work"/generated/usr/share/man/man1/*.1
    for line in "${COMPLETIONS[@]}"; do
        install -d "$work/generated/$(dirname "${line#* }")"
        "${run[@]}" "$(binary_of "$arch")" completions "${line%% *}" > "$work/generated/${line#* }"
        [[ -s $work/generated/${line#* } ]] || fail "no completions for ${line%% *}"
    done
}

debian_package() {
    local arch=$1 tree=$work/deb-$1 line
    install -D "$(binary_of "$arch")" "$tree/usr/bin/timeloom"
    cp -r "$work/generated/." "$tree/"
    for line in "${DEB_FILES[@]}"; do install -D -m 644 "${line%% *}" "$tree/${line#* }"; done
    gzip -9n "$tree/usr/share/doc/timeloom/changelog"
    install -d "$tree/DEBIAN"
    sed -e "s/@VERSION@/$version-1/" -e "s/@ARCHITECTURE@/$(deb_architecture "$arch")/" -e "s/@GLIBC@/$GLIBC/" \
        -e "s/@SIZE@/$(du -sk "$tree/usr" | cut -f 1)/" scripts/deb/control.in > "$tree/DEBIAN/control"
    (cd "$tree" && find usr -type f -exec md5sum {} +) > "$tree/DEBIAN/md5sums"
    # xz: dpkg of Debian 11 does not read zstd.
    dpkg-deb --root-owner-group -Zxz --build "$tree" "$(deb_of "$arch")" >/dev/null
    rm -rf "$tree"
}

for arch in $TARGETS; do deb_architecture "$arch" >/dev/null; done
case ${1:-} in
"") ;;
--plan)
    plan
    exit
    ;;
--check)
    [[ $# == 3 ]] || fail "usage: scripts/package.sh --check ARCH BINARY"
    check_binary "$2" "$3"
    exit
    ;;
--check-wheel)
    [[ $# == 3 ]] || fail "usage: scripts/package.sh --check-wheel ARCH WHEEL"
    tools
    check_wheel "$2" "$3"
    exit
    ;;
--wheel)
    [[ $# == 2 ]] || fail "usage: scripts/package.sh --wheel BINARY"
    rm -rf "$work"
    mkdir -p "$work"
    tools
    wheel_only "$2"
    exit
    ;;
*) fail "unknown argument: $1 (see the beginning of scripts/package.sh)" ;;
esac

rm -rf "$work"
mkdir -p "$work/generated"

step "tools: maturin and zig, in a venv"
tools

for arch in $TARGETS; do
    step "binary and wheel: $arch"
    build "$arch"
    check_binary "$arch" "$(binary_of "$arch")"
    check_binary "$arch" "$(module_of "$arch")"
    make_wheel "$(module_of "$arch")" "$(binary_of "$arch")" "${PLATFORM}_$arch"
    check_wheel "$arch" "$(wheel_of "$arch")"
done

step "Debian packages"
generate
for arch in $TARGETS; do debian_package "$arch"; done
(cd "$work" && dpkg-scanpackages -m . 2>/dev/null > Packages)

for arch in $TARGETS; do
    systems "$arch" | while read -r distribution suite python; do
        step "try $arch: $distribution $suite"
        scripts/package_try.sh "$arch" "$distribution" "$suite" "$work" ${python:+"$python" "$(wheel_of "$arch")"} </dev/null
    done
done

if [[ " $TARGETS " == *" $host "* ]]; then
    step "try $host: the wheel in empty venvs of this machine, with every Python that is here"
    scripts/package_wheel_try.sh "$(wheel_of "$host")"
fi

step "done"
ls -l "$work"/*.deb "$work"/*.whl
