"""Records into a bag: ``ros2 launch timeloom record.launch.py topics:='/scan /odom' output:=drive``."""

import shlex

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

ARGUMENTS = [
    ('topics', '', 'Topics to record, separated by blanks'),
    ('all', '', 'Record everything: true or false; true unless there are topics or a params_file'),
    ('output', '', 'The directory of the bag; rosbag2_ with date and time unless given'),
    ('storage', '', 'mcap or sqlite3'),
    ('params_file', '', 'A YAML file with parameters of the recorder: record.* and storage.*'),
    ('name', 'rosbag2_recorder', 'The name of the node'),
    ('namespace', '/', 'The namespace of the node; relative topics are looked for in it'),
    ('use_sim_time', 'false', 'Stamp messages with /clock'),
    ('log_level', 'info', 'debug, info, warn, error or fatal'),
    ('arguments', '', "More flags of `timeloom record`, such as '--max-bag-duration 10m --trace'"),
]


def is_true(text):
    """Read a switch."""
    return text.lower() in ('true', '1', 'yes', 'on')


def record(context):
    """Make the node, with the values that the arguments have."""
    value = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    words = []
    if value['topics']:
        words += ['--topics', *value['topics'].split()]
    everything = not (value['topics'] or value['params_file'])
    if is_true(value['all']) if value['all'] else everything:
        words += ['--all']
    for name in ('output', 'storage'):
        if value[name]:
            words += [f'--{name}', value[name]]
    parameters = [value['params_file']] if value['params_file'] else []
    parameters += [{'use_sim_time': is_true(value['use_sim_time'])}]
    return [
        Node(
            package='timeloom',
            executable='record',
            name=value['name'],
            namespace=value['namespace'],
            arguments=[*words, *shlex.split(value['arguments'])],
            parameters=parameters,
            ros_arguments=['--log-level', value['log_level']],
            output='screen',
            # The bag is closed after Ctrl-C: a slow disk needs its time.
            sigterm_timeout='30',
            sigkill_timeout='30',
        )
    ]


def generate_launch_description():
    """Declare the arguments and start the recorder."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, default, description in ARGUMENTS
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=record)])
