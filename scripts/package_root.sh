#!/usr/bin/env bash
# Unpacks packages of a distribution, with all that they depend on, into a new directory: a root to try programs in.
#
#   scripts/package_root.sh ARCH DISTRIBUTION SUITE ROOT PACKAGE... [REPOSITORY...]
#
# ARCH is x86_64 or aarch64. A REPOSITORY is a line of sources.list. No script of a package runs: a root of a foreign
# machine needs no emulator. Signatures are checked with the keys of Debian; it has those of Ubuntu in a package.
set -euo pipefail

[[ $# -ge 5 ]] || { sed -n 's/^# \{0,1\}//; 2,6p' "${BASH_SOURCE[0]}" >&2; exit 2; }
arch=$1 distribution=$2 suite=$3 root=$4
shift 4
packages=() repositories=()
for argument in "$@"; do
    case $argument in
    deb\ *) repositories+=("$argument") ;;
    *) packages+=("$argument") ;;
    esac
done

extract() { # machine, suite, root, packages with commas, more arguments of mmdebstrap
    mmdebstrap --quiet --variant=extract --architectures="$1" --include="$4" "$2" "$3" "${@:5}"
}

rm -rf "$root"
mkdir -p "$(dirname "$root")"
debian=http://deb.debian.org/debian
case $arch in x86_64) machine=amd64 ;; aarch64) machine=arm64 ;; *) echo "unknown machine: $arch" >&2; exit 2 ;; esac
options=()
case $distribution in
debian)
    mirror=$debian
    # Debian's testing says "valid for a week"; a mirror that stands still is good enough for a trial. Signatures are checked.
    options=(--aptopt='Acquire::Check-Valid-Until "false"')
    ;;
ubuntu)
    mirror=http://archive.ubuntu.com/ubuntu
    # From 26.04 on, arm64 is where amd64 is.
    case $machine-$suite in arm64-focal | arm64-jammy | arm64-noble) mirror=http://ports.ubuntu.com/ubuntu-ports ;; esac
    keys=/usr/share/keyrings
    if [[ ! -f $keys/ubuntu-archive-keyring.gpg ]]; then
        keys=$(dirname "$root")/keys/usr/share/keyrings
        [[ -d $keys ]] || extract "$(dpkg --print-architecture)" trixie "${keys%/usr/*}" ubuntu-keyring "$debian"
    fi
    options=(--keyring="$keys")
    ;;
*) echo "unknown distribution: $distribution" >&2; exit 2 ;;
esac
# base-files has the links /lib and /lib64 of a system of today.
extract "$machine" "$suite" "$root" "$(IFS=,; echo "base-files,${packages[*]}")" "${options[@]}" \
    "deb $mirror $suite main" "${repositories[@]}"
