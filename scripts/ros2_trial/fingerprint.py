"""A short hash of a message that does not depend on padding or on who serialized it."""

import hashlib

from rclpy.serialization import deserialize_message, serialize_message


def fingerprint(payload, kind):
    again = serialize_message(deserialize_message(bytes(payload), kind))
    return hashlib.sha1(again).hexdigest()[:12]
