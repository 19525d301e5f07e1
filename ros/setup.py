"""The ament package: everything below `prefix/data` is installed below the prefix, as the wheel does it."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

from setuptools import setup

# colcon runs this file from its own directory, and setuptools wants relative paths.
TREE = Path('prefix/data')


def data_files():
    """The pairs of an installed directory and its files."""
    directories = {}
    for path in sorted(TREE.rglob('*')):
        if path.is_file():
            place = str(path.parent.relative_to(TREE))
            # colcon looks for this name among the sources; the one in the tree is its copy, for the wheel.
            source = path.name if path.name == 'package.xml' else str(path)
            directories.setdefault(place, []).append(source)
    return sorted(directories.items())


PACKAGE = ElementTree.parse('package.xml').getroot()

setup(
    # Not the name of the wheel: of two distributions with one name, Python sees the entry points of the first.
    name='timeloom-ros',
    version=PACKAGE.findtext('version'),
    description=PACKAGE.findtext('description'),
    license=PACKAGE.findtext('license'),
    maintainer=PACKAGE.findtext('maintainer'),
    maintainer_email=PACKAGE.find('maintainer').get('email'),
    packages=[],
    data_files=data_files(),
    install_requires=['setuptools'],
    zip_safe=True,
)
