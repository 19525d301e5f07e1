#!/usr/bin/env bash
# The same jobs by timeloom and by a ROS 2 installation, in turns: record a load, info, play.
#
#   scripts/versus_ros2.sh [--timeloom PATH] [--profile NAME|FILE] [--scale FACTOR] [--seconds N] [--rounds N]
#
# Needs a sourced ROS 2 (`source /opt/ros/<distro>/setup.bash`) whose `ros2 bag` has the storage mcap, and GNU time.
# The load is published by `timeloom-bench load` for both sides. Prints a Markdown table on stdout.
#
# Exit codes: 0 done; 1 a job failed; 2 wrong usage; 77 there is no ROS 2 here, nothing was compared (as automake
# says "skipped"), so that neither success nor failure is pretended.
set -euo pipefail

timeloom=target/release/timeloom
profile=100MBs_raw
scale=0.1
seconds=20
rounds=3

usage() {
    sed -n '2,10s/^# \{0,1\}//p' "$0"
}

wrong() {
    echo "error: $1" >&2
    usage >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
        -h | --help)
            usage
            exit 0
            ;;
        --timeloom | --profile | --scale | --seconds | --rounds)
            [ $# -ge 2 ] || wrong "$1 needs a value"
            printf -v "${1#--}" '%s' "$2"
            shift 2
            ;;
        *) wrong "unknown argument $1" ;;
    esac
done
case $rounds in
    '' | *[!0-9]* | 0) wrong "--rounds is no number from 1" ;;
esac

if ! command -v ros2 >/dev/null; then
    echo "no ros2 found: source /opt/ros/<distro>/setup.bash first; nothing was compared" >&2
    exit 77
fi
[ -x "$timeloom" ] || wrong "no timeloom at $timeloom: cargo build --release -p timeloom-cli -p timeloom-bench"
[ -x /usr/bin/time ] || wrong "no /usr/bin/time: apt-get install time"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-78}

# CPU seconds and the largest memory (MiB) of a command, into $work/cost; its own output is kept out of the way.
cost() {
    /usr/bin/time -f '%U %S %M' -o "$work/time" "$@" >"$work/out" 2>&1 || true
    tail -n 1 "$work/time" | awk '{ printf "%.2f %.0f\n", $1 + $2, $3 / 1024 }' >"$work/cost"
}

# Stops the process that /usr/bin/time started, as Ctrl-C does, and waits for both.
stop() {
    pkill -INT -P "$1" || true
    wait "$1" || true
}

published() {
    awk -F '[:,]' '/"total"/ { total = 1 } total && /"published"/ { gsub(/ /, "", $2); print $2; exit }' "$1"
}

# One recording of the load: side, command. Prints: side, published, recorded, CPU seconds, MiB.
record() {
    local side=$1 bag="$work/bag_$1" recorder count
    shift
    rm -rf "$bag"
    /usr/bin/time -f '%U %S %M' -o "$work/time" "$@" "$bag" >"$work/out" 2>&1 &
    recorder=$!
    "$(dirname "$timeloom")/timeloom-bench" load "$profile" --scale "$scale" --duration "$seconds" --format json \
        >"$work/ledger.json" 2>"$work/load.log" || true
    sleep 2
    stop "$recorder"
    count=$("$timeloom" info "$bag" | awk '/^Messages:/ { print $2 }')
    tail -n 1 "$work/time" |
        awk -v side="$side" -v published="$(published "$work/ledger.json")" -v count="$count" \
            '{ printf "| record | %s | %s of %s | %.2f | %.0f |\n", side, count, published, $1 + $2, $3 / 1024 }'
}

# One command over the bag that timeloom recorded: job, side, command.
run() {
    local job=$1 side=$2
    shift 2
    cost "$@"
    awk -v job="$job" -v side="$side" '{ printf "| %s | %s | | %s | %s |\n", job, side, $1, $2 }' "$work/cost"
}

echo "| job | by | recorded of published | CPU s | max MiB |"
echo "|---|---|---|---:|---:|"
for _ in $(seq "$rounds"); do
    record timeloom "$timeloom" record --all-topics -o
    record ros2 ros2 bag record --all --storage mcap -o
    run info timeloom "$timeloom" info "$work/bag_timeloom"
    run info ros2 ros2 bag info "$work/bag_timeloom"
    run play timeloom "$timeloom" play "$work/bag_timeloom" --disable-keyboard-controls
    run play ros2 ros2 bag play "$work/bag_timeloom" --disable-keyboard-controls
done
