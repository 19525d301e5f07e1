"""``python -m timeloom`` is ``timeloom``."""

import os
import sys

from ._binary import binary

os.execv(binary(), [binary(), *sys.argv[1:]])
