"""Checks the ament package in `ros/` and the command of ros2cli, without ROS: what they import is made up here."""

import argparse
import json
import runpy
import sys
import types
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[4]
TREE = ROOT / "ros/prefix/data"


def module(name, **content):
    """A module that exists for this process only."""
    made = types.ModuleType(name)
    made.__dict__.update(content)
    sys.modules[name] = made


def metadata(version):
    package = ElementTree.parse(ROOT / "ros/package.xml").getroot()
    assert package.tag == "package" and package.get("format") == "3"
    assert package.findtext("name") == "timeloom"
    assert package.findtext("version") == version, "package.xml and Cargo.toml name one version"
    assert package.find("export/build_type").text == "ament_python"
    for tag in ("description", "license", "maintainer"):
        assert package.findtext(tag).strip(), tag
    assert package.find("maintainer").get("email")
    copy = TREE / "share/timeloom/package.xml"
    assert copy.read_text() == (ROOT / "ros/package.xml").read_text(), "the wheel's copy differs"
    keys = [depend.text for depend in package.findall("exec_depend")]
    rosdep = (ROOT / "ros/rosdep.yaml").read_text()
    assert f"\n{keys[0]}:\n" in rosdep, keys
    project = (ROOT / "pyproject.toml").read_text()
    assert '[project.entry-points."ros2cli.command"]\ntimeloom = "timeloom._ros2cli:TimeloomCommand"\n' in project
    assert '\ndata = "ros/prefix"\n' in project


def setup():
    said = {}
    module("setuptools", setup=said.update)
    import os

    os.chdir(ROOT / "ros")
    runpy.run_path("setup.py")
    # Of two distributions with one name, Python sees the entry points of the first.
    assert said["name"] == "timeloom-ros" and said["version"]
    files = {(place, Path(source).name) for place, sources in said["data_files"] for source in sources}
    assert all(Path(source).is_file() for _, sources in said["data_files"] for source in sources)
    assert files == {
        ("share/ament_index/resource_index/packages", "timeloom"),
        ("share/timeloom", "package.xml"),
        ("share/timeloom/launch", "play.launch.py"),
        ("share/timeloom/launch", "record.launch.py"),
        ("lib/timeloom", "timeloom"),
        ("lib/timeloom", "record"),
        ("lib/timeloom", "play"),
    }, files
    for name in ("timeloom", "record", "play"):
        assert os.access(TREE / "lib/timeloom" / name, os.X_OK), name


class Made:
    """An action of launch: what it was made of."""

    def __init__(self, *words, **named):
        self.words, self.named = words, named


class Configuration:
    def __init__(self, name):
        self.name = name

    def perform(self, context):
        return context[self.name]


def launch(verb, values):
    """Prints the command line that a launch file makes of its arguments."""
    module("launch", LaunchDescription=Made)
    module("launch.actions", DeclareLaunchArgument=Made, OpaqueFunction=Made)
    module("launch.substitutions", LaunchConfiguration=Configuration)
    module("launch_ros")
    module("launch_ros.actions", Node=Made)
    content = runpy.run_path(str(TREE / f"share/timeloom/launch/{verb}.launch.py"))
    (entities,) = content["generate_launch_description"]().words
    *declared, start = entities
    context = {entity.words[0]: entity.named["default_value"] for entity in declared}
    assert all(entity.named["description"] for entity in declared)
    given = dict(pair.split(":=", 1) for pair in values)
    assert set(given) <= set(context), given
    (node,) = start.named["function"]({**context, **given})
    named = node.named
    assert (named["package"], named["executable"]) == ("timeloom", verb)
    ros = ["--ros-args", *named["ros_arguments"]]
    ros += ["-r", f"__node:={named['name']}", "-r", f"__ns:={named['namespace']}"]
    for parameters in named["parameters"]:
        if isinstance(parameters, str):
            ros += ["--params-file", parameters]
        else:
            for key, value in parameters.items():
                ros += ["-p", f"{key}:={json.dumps(value)}"]
    print(json.dumps([*named["arguments"], *ros]))


def command(words):
    """`ros2 timeloom …`: the words pass through argparse as ros2cli uses it, then the process is the binary."""
    module("ros2cli")
    module("ros2cli.command", CommandExtension=object)
    from timeloom._ros2cli import TimeloomCommand

    extension = TimeloomCommand()
    parser = argparse.ArgumentParser(prog="ros2")
    subparser = parser.add_subparsers().add_parser("timeloom")
    subparser.set_defaults(_command=extension)
    extension.add_arguments(subparser, "ros2 timeloom", argv=None)
    args = parser.parse_args(["timeloom", *words])
    assert args._command is extension
    sys.exit(extension.main(parser=parser, args=args))


part, *more = sys.argv[1:]
if part == "metadata":
    metadata(*more)
elif part == "setup":
    setup()
elif part == "launch":
    launch(more[0], more[1:])
elif part == "command":
    command(more)
