"""Tags of TILDE from Python nodes: which messages an output was made of, for ``timeloom trace``.

A node derives from :class:`TildeNode` in place of ``rclpy.node.Node`` and creates what is to be tracked by
``create_tilde_publisher`` and ``create_tilde_subscription``; nothing else of it changes::

    from timeloom.tilde import TildeNode

    class Filter(TildeNode):
        def __init__(self):
            super().__init__("filter")
            self.publisher = self.create_tilde_publisher(LaserScan, "scan_filtered", 10)
            self.create_tilde_subscription(LaserScan, "scan", self.filter, 10)

        def filter(self, scan):
            self.publisher.publish(scan)  # its tag says: made of this scan

It needs ``rclpy`` and the messages of ``tilde_msg`` (see docs/tracking.md of Timeloom).
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections import deque
from typing import Any, Callable, NamedTuple, Optional

try:
    from rclpy.clock import Clock, ClockType
    from rclpy.node import Node
    from rclpy.qos import QoSProfile
except ImportError as error:
    msg = "timeloom.tilde needs rclpy: source a ROS 2 installation first"
    raise ImportError(msg) from error
try:
    from builtin_interfaces.msg import Time
    from tilde_msg.msg import MessageTrackingTag, SubTopicTimeInfo
except ImportError as error:
    msg = "timeloom.tilde needs the messages of tilde_msg: build the package ros/tilde_msg of Timeloom, or TILDE's"
    raise ImportError(msg) from error

__all__ = ["TildeNode", "TildePublisher"]

# What the tag of a topic is published on.
TAG_SUFFIX = "/message_tracking_tag"
# So many messages of each input can be named by their stamp.
REMEMBERED = 256
_NANOS = 1_000_000_000


class _Moment(NamedTuple):
    """One moment on the clock of the node and on that of the machine, in nanoseconds."""

    ros: int
    steady: int


class _Received(NamedTuple):
    at: _Moment
    stamp: Optional[int]


_UNKNOWN = _Moment(0, 0)


def _time(nanos: int) -> Time:
    return Time(sec=nanos // _NANOS, nanosec=nanos % _NANOS)


def _nanos(stamp: Any) -> Optional[int]:
    """The nanoseconds of a stamp: a message, or a time of rclpy."""
    if hasattr(stamp, "sec") and hasattr(stamp, "nanosec"):
        return stamp.sec * _NANOS + stamp.nanosec
    return getattr(stamp, "nanoseconds", None)


def _stamp_of(message: Any) -> Optional[int]:
    """The stamp of a message, as TILDE finds it: ``header.stamp``, else ``stamp``, else none."""
    header = getattr(message, "header", None)
    stamp = getattr(header, "stamp", None)
    if stamp is None:
        stamp = getattr(message, "stamp", None)
    return None if stamp is None else _nanos(stamp)


class _Input:
    """A topic that the node takes, and the last messages that came."""

    def __init__(self) -> None:
        self.recent: deque[_Received] = deque(maxlen=REMEMBERED)

    def find(self, stamp: int) -> _Received:
        for received in reversed(self.recent):
            if received.stamp == stamp:
                return received
        return _Received(_UNKNOWN, stamp)


class TildePublisher:
    """A publisher that sends a tag before each message.

    What it does not have itself is that of the ``rclpy`` publisher of the messages. A tag that cannot be sent does not
    keep its message back: it is counted in :attr:`refused_tags` and warned of.
    """

    def __init__(self, node: TildeNode, main: Any, tags: Any) -> None:
        self._node = node
        self._main = main
        self._tags = tags
        self._sequence = 0
        self._explicit: Optional[list[tuple[str, _Received]]] = None
        self.refused_tags = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._main, name)

    def publish(self, message: Any) -> None:
        """Publishes a message, and before it the tag that says what it was made of.

        A serialised message (``bytes``) is published without a tag, as TILDE does.
        """
        if self._node._tilde_enabled and not isinstance(message, (bytes, bytearray)):  # noqa: SLF001
            try:
                self._tags.publish(self._tag(_stamp_of(message)))
            except Exception as error:  # noqa: BLE001 - whatever the tag meets, the message goes on
                self._refuse(error)
        self._main.publish(message)

    def add_explicit_input_info(self, topic: str, stamp: Any) -> bool:
        """Names an input of the next message by its topic and its stamp, for nodes that buffer.

        As in TILDE it is a state of the publisher: from the first call on, tags list what was named since the last
        message and nothing else. False, and nothing changes, when the node takes no such topic.
        """
        nanos = _nanos(stamp)
        if nanos is None:
            msg = f"a stamp has sec and nanosec, or nanoseconds; {type(stamp).__name__} has neither"
            raise TypeError(msg)
        node = self._node
        topic = node.resolve_topic_name(topic)
        with node._tilde_lock:  # noqa: SLF001
            source = node._tilde_inputs.get(topic)  # noqa: SLF001
            if source is None:
                return False
            if self._explicit is None:
                self._explicit = []
            self._explicit.append((topic, source.find(nanos)))
        return True

    def destroy(self) -> None:
        """Ends both publishers."""
        self._node.destroy_publisher(self._tags)
        self._node.destroy_publisher(self._main)

    def _tag(self, stamp: Optional[int]) -> MessageTrackingTag:
        node = self._node
        now = node._tilde_now()  # noqa: SLF001
        with node._tilde_lock:  # noqa: SLF001
            if self._explicit is None:
                inputs = node._tilde_inputs.items()  # noqa: SLF001
                used = sorted((topic, one.recent[-1]) for topic, one in inputs if one.recent)
            else:
                used, self._explicit = self._explicit, []
            sequence, self._sequence = self._sequence, self._sequence + 1
        tag = MessageTrackingTag()
        tag.header.stamp = _time(now.ros)
        output = tag.output_info
        output.topic_name = self._main.topic_name
        output.node_fqn = node.get_fully_qualified_name()
        output.seq = sequence
        output.pub_time = _time(now.ros)
        output.pub_time_steady = _time(now.steady)
        output.has_header_stamp = stamp is not None
        output.header_stamp = _time(stamp or 0)
        tag.input_infos = [_input_info(topic, received) for topic, received in used]
        return tag

    def _refuse(self, error: Exception) -> None:
        self.refused_tags += 1
        # The first time and at each doubling: a log full of it would be worse than the loss.
        if self.refused_tags & (self.refused_tags - 1) == 0:
            text = f"{self.refused_tags} tags of {self._main.topic_name} were not sent, its messages were: {error}"
            self._node.get_logger().warning(text)


def _input_info(topic: str, received: _Received) -> SubTopicTimeInfo:
    info = SubTopicTimeInfo()
    info.topic_name = topic
    info.sub_time = _time(received.at.ros)
    info.sub_time_steady = _time(received.at.steady)
    info.has_header_stamp = received.stamp is not None
    info.header_stamp = _time(received.stamp or 0)
    return info


class TildeNode(Node):
    """A node of ``rclpy`` that records, for each message it publishes, the messages it was made from.

    The parameter ``enable_tilde`` switches that on and off while it runs. Any executor may run its callbacks.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._tilde_lock = threading.Lock()
        self._tilde_inputs: dict[str, _Input] = {}
        self._tilde_enabled = True
        self._tilde_steady = Clock(clock_type=ClockType.STEADY_TIME)
        super().__init__(*arguments, **options)
        if not self.has_parameter("enable_tilde"):
            self.declare_parameter("enable_tilde", True)
        self._tilde_enabled = bool(self.get_parameter("enable_tilde").value)
        if hasattr(self, "add_post_set_parameters_callback"):
            self.add_post_set_parameters_callback(self._tilde_switch)
        else:
            # Humble has no callback for parameters that are set.
            self.add_on_set_parameters_callback(self._tilde_switch_on_set)

    def create_tilde_publisher(self, msg_type: Any, topic: str, qos_profile: Any, **options: Any) -> TildePublisher:
        """Like ``create_publisher``, with a tag for each message on ``<topic>/message_tracking_tag``."""
        main = self.create_publisher(msg_type, topic, qos_profile, **options)
        tags = self.create_publisher(MessageTrackingTag, main.topic_name + TAG_SUFFIX, QoSProfile(depth=1))
        return TildePublisher(self, main, tags)

    def create_tilde_subscription(
        self,
        msg_type: Any,
        topic: str,
        callback: Callable[..., Any],
        qos_profile: Any,
        **options: Any,
    ) -> Any:
        """Like ``create_subscription``; each message is noted before the callback runs."""
        name = self.resolve_topic_name(topic)
        with self._tilde_lock:
            self._tilde_inputs.setdefault(name, _Input())
        taken = self._tilde_callback(name, callback)
        return self.create_subscription(msg_type, topic, taken, qos_profile, **options)

    def _tilde_callback(self, topic: str, callback: Callable[..., Any]) -> Callable[..., Any]:
        # rclpy looks at the signature and at whether it is a coroutine: both stay as they are.
        if inspect.iscoroutinefunction(callback):

            @functools.wraps(callback)
            async def taken(message: Any, *info: Any) -> Any:
                self._tilde_receive(topic, message)
                return await callback(message, *info)

        else:

            @functools.wraps(callback)
            def taken(message: Any, *info: Any) -> Any:
                self._tilde_receive(topic, message)
                return callback(message, *info)

        return taken

    def _tilde_receive(self, topic: str, message: Any) -> None:
        if self._tilde_enabled:
            received = _Received(self._tilde_now(), _stamp_of(message))
            with self._tilde_lock:
                self._tilde_inputs[topic].recent.append(received)

    def _tilde_now(self) -> _Moment:
        return _Moment(self.get_clock().now().nanoseconds, self._tilde_steady.now().nanoseconds)

    def _tilde_switch(self, parameters: Any) -> None:
        for parameter in parameters:
            if parameter.name == "enable_tilde":
                self._tilde_enabled = bool(parameter.value)

    def _tilde_switch_on_set(self, parameters: Any) -> Any:
        from rcl_interfaces.msg import SetParametersResult

        self._tilde_switch(parameters)
        return SetParametersResult(successful=True)
