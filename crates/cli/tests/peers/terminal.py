"""A person at a terminal: runs a command on a terminal of its own, types, and looks at the screen.

usage: terminal.py ROWS COLUMNS COMMAND ARGUMENT...
Reads one JSON command per line, answers with one JSON line:
  {"do": "type", "keys": "jj"}; {"do": "until", "shows": "text", "hides": "text"} gives the screen; {"do": "end"}.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

HOME = b"\x1b[H"


class Terminal:
    def __init__(self, rows, columns, command):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            # Nothing may be drawn before the size is known.
            time.sleep(0.2)
            os.execv(command[0], command)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.output = b""

    def read(self, seconds):
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            data = b""
        self.output += data
        return bool(data)

    def screen(self):
        """The last screen that was drawn as a whole: from the top left to the next one."""
        frames = self.output.split(HOME)
        whole = frames[-2] if len(frames) > 2 else b""
        text = whole.split(b"\x1b[?1049h")[0].decode(errors="replace")
        return text.replace("\x1b[K", "").replace("\r\n", "\n")

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def until(self, shows=None, hides=None):
        end = time.monotonic() + 60
        while True:
            screen = self.screen()
            if (shows is None or shows in screen) and (hides is None or hides not in screen) and screen:
                return screen
            if time.monotonic() > end or not self.read(0.5):
                raise TimeoutError(f"the screen stays at\n{screen}\nof {self.output[-500:]!r}")

    def end(self):
        while self.read(60.0):
            pass
        _, status = os.waitpid(self.process, 0)
        left = self.output.split(b"\x1b[?1049l")
        return {"code": os.waitstatus_to_exitcode(status), "left": len(left) - 1, "after": left[-1].decode()}


def main():
    terminal = Terminal(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = {"ok": getattr(terminal, command.pop("do"))(**command)}
        except Exception as error:  # noqa: BLE001 - the test says what was wrong
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)


main()
