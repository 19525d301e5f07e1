"""The topics of the robot: what each looks like and how it is published."""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

RELIABLE = ReliabilityPolicy.RELIABLE
BEST_EFFORT = ReliabilityPolicy.BEST_EFFORT


def topics():
    """Name, type, QoS and a function from number and size to a message."""
    from std_msgs.msg import Header, String, UInt8MultiArray

    def text(number, _size):
        return String(data=f"message {number}")

    def header(number, _size):
        message = Header(frame_id="base")
        message.stamp.sec = number
        return message

    def blob(number, size):
        return UInt8MultiArray(data=bytes([number % 256]) * size)

    latched = QoSProfile(depth=1, reliability=RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    keep_all = QoSProfile(depth=0, history=HistoryPolicy.KEEP_ALL, reliability=RELIABLE)
    return {
        "/trial/chatter": (String, QoSProfile(depth=100, reliability=RELIABLE), text),
        "/trial/latched": (String, latched, text),
        "/trial/keep_all": (String, keep_all, text),
        "/trial/header": (Header, QoSProfile(depth=100, reliability=BEST_EFFORT), header),
        "/trial/blob": (UInt8MultiArray, QoSProfile(depth=100, reliability=RELIABLE), blob),
    }
