"""Bags and domains for the tests."""

import os
import shutil
import signal
from pathlib import Path

import pytest

import timeloom

BAGS = Path(__file__).parents[2] / "testdata" / "bags"


@pytest.fixture(scope="session")
def bags():
    """The folder with bags of rosbag2."""
    return BAGS


@pytest.fixture(scope="session")
def bag():
    """A bag of rosbag2 with 16 topics."""
    return timeloom.open(BAGS / "mcap_plain")


@pytest.fixture
def cut_bag(tmp_path):
    """A bag whose file ends in the middle."""
    copy = tmp_path / "cut"
    shutil.copytree(BAGS / "mcap_plain", copy)
    (file,) = copy.glob("*.mcap")
    data = file.read_bytes()
    file.write_bytes(data[: len(data) * 2 // 3])
    return copy


@pytest.fixture(scope="session")
def domain():
    """A ROS domain that no other test of this machine is likely to use; all traffic is on 127.0.0.1."""
    return 110 + os.getpid() % 100


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises, also where a shell started the tests in the background and had it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def jazzy_types():
    """The types of Jazzy as rosbags has them; its last release for Python 3.9 is older than Jazzy."""
    typesys = pytest.importorskip("rosbags.typesys")
    if not hasattr(typesys.Stores, "ROS2_JAZZY"):
        pytest.skip("this release of rosbags is older than Jazzy")
    return typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
