#!/bin/sh
# Runs targets one after the other with libFuzzer and writes a line for each into <folder>/summary.tsv:
# target, seconds, executions, coverage (edges), corpus, crashes.
# usage: campaign.sh <folder> <seconds for each> [target…]; without targets, all of fuzz/Cargo.toml
# The corpus grows in <folder>; that of the repository is where it starts.
set -eu
folder=$(mkdir -p "$1" && cd "$1" && pwd)
seconds=$2
shift 2
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- $(sed -n '/^\[\[bin\]\]/{n;s/name = "\(.*\)"/\1/p;}' Cargo.toml)
for target in "$@"; do
    mkdir -p "$folder/corpus/$target" "$folder/artifacts/$target"
    log="$folder/$target.log"
    FUZZ_OUT="$folder" ./stable.sh "$target" "$seconds" >"$log" 2>&1 || true
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
    coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | cut -d' ' -f2)
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$target" "$seconds" "${executions:-0}" "${coverage:-0}" \
        "$(find "$folder/corpus/$target" -type f | wc -l)" \
        "$(find "$folder/artifacts/$target" -type f | wc -l)" >>"$folder/summary.tsv"
done
