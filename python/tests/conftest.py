"""Bags and domains for the tests."""

import os
import shutil
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
