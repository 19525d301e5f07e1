#!/usr/bin/env bash
# Tries timeloom beside a real ROS 2: bags both ways, recording side by side, playback to rclpy listeners, services,
# simulated time, actions, with every RMW that is installed. Prints a Markdown table on stdout.
#
#   scripts/ros2_trial.sh [--timeloom PATH] [--rmw NAME]... [--only TEXT] [--runs N] [--keep DIR]
#
#   --timeloom PATH  the binary under trial (target/release/timeloom)
#   --rmw NAME       only this RMW implementation; may be repeated (default: all that are installed)
#   --only TEXT      only cases whose name contains TEXT
#   --runs N         how often each playback case is repeated (3)
#   --keep DIR       keep bags and logs in DIR
#
# Needs a sourced ROS 2 (`source /opt/ros/<distro>/setup.bash`) with rclpy and rosbag2. Traffic stays on this machine.
#
# Exit codes: 0 every case passed; 1 a case failed; 2 wrong usage; 77 no ROS 2 here, nothing was tried.
set -euo pipefail

case ${1:-} in
    -h | --help)
        sed -n '2,15s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
esac
if ! command -v ros2 >/dev/null; then
    echo "no ros2 found: source /opt/ros/<distro>/setup.bash first; nothing was tried" >&2
    exit 77
fi
export ROS_AUTOMATIC_DISCOVERY_RANGE=${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}
export ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-79}
exec python3 "$(dirname "$0")/ros2_trial/run.py" "$@"
