"""Where the binary is."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path


def binary() -> str:
    """The path of the binary: ``TIMELOOM_BINARY``, else the one installed with this package, else on ``PATH``."""
    named = os.environ.get("TIMELOOM_BINARY")
    if named:
        return named
    places = [sysconfig.get_path("scripts"), Path(sys.executable).parent]
    places += [sysconfig.get_path("scripts", scheme) for scheme in ("posix_user", "posix_local")
               if scheme in sysconfig.get_scheme_names()]
    for place in places:
        candidate = Path(str(place)) / "timeloom"
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which("timeloom")
    if found is None:
        msg = "the binary timeloom is not there: install the wheel, or set TIMELOOM_BINARY to its path"
        raise FileNotFoundError(msg)
    return found
