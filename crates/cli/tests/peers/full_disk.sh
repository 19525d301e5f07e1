#!/bin/sh
# A recorder on a disk of its own that is soon full; the bag is copied out at the end.
#
# usage: unshare -rm sh full_disk.sh <size> <directory> <timeloom> <record arguments>
size=$1 directory=$2 timeloom=$3
shift 3
mkdir "$directory/disk"
mount -t tmpfs -o "size=$size" tmpfs "$directory/disk" || exit 9
# The recorder gets the signal, too, and ends by itself.
trap : INT
"$timeloom" record -o "$directory/disk/bag" "$@"
code=$?
cp -r "$directory/disk/bag" "$directory/bag"
exit $code
