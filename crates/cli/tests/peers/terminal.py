"""A person at a terminal: runs a command on a terminal of its own, types, and looks at the screen.

usage: terminal.py ROWS COLUMNS COMMAND ARGUMENT...
Reads one JSON command per line, answers with one JSON line:
  {"do": "type", "keys": "jj"}; {"do": "until", "shows": "text", "hides": "text"} gives the screen; {"do": "end"}.
"""

import codecs
import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time

SEQUENCE = re.compile(r"\x1b\[([?>]?)([0-9;]*)([A-Za-z])|\x1b[()][A-Z0-9]|\x1b[=>78]|\x1b\][^\x07]*\x07")


class Screen:
    """As much of a terminal as full-screen programs draw with: the cursor, text, and erasing."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.clear()

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.rows)]
        self.row = self.column = 0

    def draw(self, text):
        """Draws text; what is left of an incomplete sequence at its end."""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                sequence = SEQUENCE.match(text, at)
                if sequence is None:
                    return text[at:]
                self.control(*sequence.group(1, 2, 3))
                at = sequence.end()
                continue
            self.put(text[at])
            at += 1
        return ""

    def put(self, letter):
        if letter == "\r":
            self.column = 0
        elif letter == "\n":
            self.row = min(self.row + 1, self.rows - 1)
        elif letter >= " ":
            if self.row < self.rows and self.column < self.columns:
                self.cells[self.row][self.column] = letter
            self.column += 1

    def control(self, mark, numbers, final):
        values = [int(number or 0) for number in (numbers or "").split(";")]
        if mark == "?" and values == [1049]:
            self.clear()
        elif not mark and final == "H":
            self.row = max(values[0], 1) - 1
            self.column = max(values[1] if len(values) > 1 else 1, 1) - 1
        elif not mark and final == "J":
            self.cells = [[" "] * self.columns for _ in range(self.rows)]
        elif not mark and final == "K" and self.row < self.rows:
            row = self.cells[self.row]
            row[self.column :] = [" "] * (self.columns - self.column)

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.cells)


class Terminal:
    def __init__(self, rows, columns, command):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            # Nothing may be drawn before the size is known.
            time.sleep(0.2)
            os.execv(command[0], command)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.output = b""
        self.drawn = Screen(rows, columns)
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.rest = ""

    def read(self, seconds):
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            data = b""
        self.output += data
        self.rest = self.drawn.draw(self.rest + self.decoder.decode(data))
        return bool(data)

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def until(self, shows=None, hides=None):
        end = time.monotonic() + 60
        while True:
            screen = self.drawn.text()
            if (shows is None or shows in screen) and (hides is None or hides not in screen) and screen.strip():
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
