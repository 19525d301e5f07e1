"""``ros2 timeloom``: the binary as a command of ros2. Only ros2cli loads this module."""

import os
import sys

from ros2cli.command import CommandExtension

from ._binary import binary


class TimeloomCommand(CommandExtension):
    """Record, replay, synchronise and trace messages with an account of every loss."""

    def add_arguments(self, parser, cli_name, *, argv=None):
        """Take all words as they are: flags, also ``--help``, are those of the binary."""
        parse = parser.parse_known_args

        def verbatim(args=None, namespace=None, **_):
            namespace, _ = parse([], namespace)
            namespace.timeloom_words = list(args or [])
            return namespace, []

        parser.parse_known_args = verbatim
        # Newer versions of argparse may ask this way.
        parser.parse_known_intermixed_args = verbatim

    def main(self, *, parser, args):
        """Become the binary: signals and exit codes are its own."""
        try:
            path = binary()
        except FileNotFoundError as error:
            return f'error: {error}'
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(path, [path, *args.timeloom_words])
