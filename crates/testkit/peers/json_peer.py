"""The command loop of Python peers in tests."""

import json
import signal
import sys


def reply(line):
    """Writes a reply; also for intermediate ones."""
    print(json.dumps(line), flush=True)


def serve(new_peer, seconds):
    """Reads one JSON command per line of stdin, calls the named method of the peer, and writes one JSON
    reply per line.

    The process ends after `seconds` at the latest, so that a test that is killed leaves no peer behind.
    """
    signal.alarm(seconds)
    peer = new_peer()
    for line in sys.stdin:
        command = json.loads(line)
        try:
            reply({"ok": getattr(peer, command.pop("do"))(**command)})
        except Exception as error:  # reported to the test, which fails
            reply({"error": repr(error)})
