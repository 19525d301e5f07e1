#!/bin/sh
# before-record.sh DIRECTORY MIN_FREE: run before a recorder starts, while nothing is recorded in DIRECTORY.
#
# Repairs bags that a power cut left open, so that they are uploaded like any other; then deletes the oldest bags, uploaded
# or not, until MIN_FREE (such as 5GiB) is free. Each deletion is printed. Never fails: the recording begins in any case.
directory=$1
timeloom=${TIMELOOM:-/usr/bin/timeloom}

number=${2%%[!0-9]*}
case $2 in
    *GiB | *G) wanted=$((number << 20)) ;;
    *GB) wanted=$((number * 1000000000 / 1024)) ;;
    *MiB | *M) wanted=$((number << 10)) ;;
    *MB) wanted=$((number * 1000000 / 1024)) ;;
    *KiB | *K) wanted=$number ;;
    *[!0-9]* | '') echo "before-record: $2 is no size, such as 5GiB" >&2; wanted=0 ;;
    *) wanted=$((number / 1024)) ;;
esac

# The bags, oldest first.
bags() {
    ls -1dtr "$directory"/*/ 2>/dev/null
}

free() {
    df -Pk "$directory" | awk 'NR == 2 { print $4 }'
}

bags | while IFS= read -r bag; do
    # A recorder that ended properly has written its metadata: `info` finds no damage then.
    "$timeloom" info "$bag" -t >/dev/null 2>&1
    if [ $? -eq 3 ]; then
        "$timeloom" recover "$bag"
        # 0: all that the original holds is in the repaired file.
        [ $? -eq 0 ] && rm -f "$bag"*.damaged
    fi
done

bags | while IFS= read -r bag; do
    [ "$(free)" -lt "$wanted" ] || break
    echo "before-record: $(free) KiB free, $wanted KiB wanted: deleted $bag ($(du -sk "$bag" | cut -f1) KiB)"
    rm -rf "$bag"
done
exit 0
