"""Plays a bag: ``ros2 launch timeloom play.launch.py bag:=drive rate:=2.0 clock:=40``."""

import shlex

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

ARGUMENTS = [
    ('bag', '', 'The bag; the parameter storage.uri of params_file unless given'),
    ('rate', '', 'How fast time goes'),
    ('clock', '', 'Publish /clock so many times per second'),
    ('loop', 'false', 'Begin again at the end'),
    ('topics', '', 'Only these topics, separated by blanks'),
    ('params_file', '', 'A YAML file with parameters of the player: play.* and storage.*'),
    ('name', 'rosbag2_player', 'The name of the node'),
    ('namespace', '/', 'The namespace of the node and of its services'),
    ('log_level', 'info', 'debug, info, warn, error or fatal'),
    ('arguments', '', "More flags of `timeloom play`, such as '--start +10s --end +20s'"),
]


def play(context):
    """Make the node, with the values that the arguments have."""
    value = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    words = [value['bag']] if value['bag'] else []
    for name in ('rate', 'clock'):
        if value[name]:
            words += [f'--{name}', value[name]]
    if value['loop'].lower() in ('true', '1', 'yes', 'on'):
        words += ['--loop']
    if value['topics']:
        words += ['--topics', *value['topics'].split()]
    return [
        Node(
            package='timeloom',
            executable='play',
            name=value['name'],
            namespace=value['namespace'],
            arguments=[*words, *shlex.split(value['arguments'])],
            parameters=[value['params_file']] if value['params_file'] else [],
            ros_arguments=['--log-level', value['log_level']],
            output='screen',
        )
    ]


def generate_launch_description():
    """Declare the arguments and start the player."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, default, description in ARGUMENTS
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=play)])
