#!/bin/sh
# Two network namespaces with a lossy link between them: a publisher in one, a recorder in the other.
#
# usage: unshare -rnm sh lossy_link.sh <percent> <directory> <timeloom> <python> <publisher.py> <domain> <record arguments>
# Commands for the publisher come on stdin; at their end the recorder is interrupted. Its words and exit code are left in
# <directory>.
set -e
percent=$1 directory=$2 timeloom=$3 python=$4 publisher=$5 domain=$6
shift 6
mount -t tmpfs tmpfs /run
ip netns add pub
ip netns add rec
ip link add vpub type veth peer name vrec
ip link set vpub netns pub
ip link set vrec netns rec
for end in "pub 1" "rec 2"; do
    name=${end% *}
    ip -n "$name" addr add "10.9.0.${end#* }/24" dev "v$name"
    ip -n "$name" link set lo up
    ip -n "$name" link set "v$name" up
done
lossiness=
if ! nsenter --net=/run/netns/pub tc qdisc add dev vpub root netem loss "$percent%" 2>/dev/null; then
    # A kernel without netem: the publisher's middleware throws packets away before they reach the link.
    echo "no netem in this kernel: Cyclone DDS drops the packets itself" >&2
    lossiness="<Internal><Test><XmitLossiness>$((percent * 10))</XmitLossiness></Test></Internal>"
fi

# Which address is ours, and which the other's.
cyclone() {
    echo "<CycloneDDS><Domain Id=\"any\"><General><Interfaces><NetworkInterface address=\"$1\" multicast=\"false\"/>\
</Interfaces><AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>\
<Peers><Peer Address=\"$2\"/></Peers></Discovery>$3</Domain></CycloneDDS>"
}

cd "$directory"
CYCLONEDDS_URI=$(cyclone 10.9.0.2 10.9.0.1) ROS_DOMAIN_ID=$domain \
    nsenter --net=/run/netns/rec "$timeloom" record "$@" </dev/null >record.out 2>record.err &
recorder=$!
CYCLONEDDS_URI=$(cyclone 10.9.0.1 10.9.0.2 "$lossiness") \
    nsenter --net=/run/netns/pub "$python" "$publisher" "$domain"
kill -INT $recorder
code=0
wait $recorder || code=$?
echo $code >record.code
