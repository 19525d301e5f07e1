"""Drives the page in Chromium over the DevTools protocol; fails on errors in its console.

usage: browser.py <chromium> <url> <directory for pictures>
"""

import base64
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

from websockets.sync.client import connect

CHROMIUM, URL, PICTURES = sys.argv[1:4]
PATIENCE = 100
KEYS = {" ": ("Space", 32), "ArrowUp": ("ArrowUp", 38), "ArrowRight": ("ArrowRight", 39), "[": ("BracketLeft", 219), "]": ("BracketRight", 221)}


class Browser:
    """One page, by numbered commands; what it complains about is kept."""

    def __init__(self, directory):
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--hide-scrollbars", "--force-color-profile=srgb", "--disable-background-networking",
            "--remote-debugging-port=0", f"--user-data-dir={directory}", "--window-size=1360,1180", "about:blank",
        ]
        self.process = subprocess.Popen([CHROMIUM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = os.path.join(directory, "DevToolsActivePort")
        wait("the browser", lambda: os.path.exists(port_file) and open(port_file).read().count("\n") >= 1)
        port = open(port_file).readline().strip()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            page = next(target for target in json.load(answer) if target["type"] == "page")
        self.open = contextlib.ExitStack()
        self.socket = self.open.enter_context(connect(page["webSocketDebuggerUrl"], max_size=None))
        self.number, self.complaints = 0, []
        for domain in ("Page", "Runtime", "Log", "Accessibility"):
            self.command(f"{domain}.enable")

    def command(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=PATIENCE))
            if message.get("method") == "Runtime.exceptionThrown":
                self.complaints.append(message["params"]["exceptionDetails"])
            elif message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
                self.complaints.append(message["params"]["entry"])
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]

    def value(self, script):
        result = self.command("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def text(self, element):
        """What it says; nothing while the page is still being loaded."""
        return self.value(f"document.getElementById('{element}')?.textContent")

    def click(self, element, part=0.5):
        """Clicks with the mouse, at a part of the element's width."""
        box = self.value(
            f"(() => {{ const e = document.getElementById('{element}'); e.scrollIntoView({{block: 'center'}});"
            " const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()"
        )
        at = {"x": box[0] + box[2] * part, "y": box[1] + box[3] / 2, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, **at)

    def key(self, key):
        code, number = KEYS[key]
        common = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        text = {"text": key} if len(key) == 1 else {}
        self.command("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.command("Input.dispatchKeyEvent", type="keyUp", **common)

    def picture(self, name):
        data = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        with open(os.path.join(PICTURES, name), "wb") as file:
            file.write(base64.b64decode(data))

    def size(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def close(self):
        self.open.close()
        self.process.terminate()
        self.process.wait()


def wait(what, done):
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.02)
    print("seen:", what)


def play(page):
    wait("the first snapshot", lambda: page.text("state") == "paused")
    assert page.text("title") == "toy"
    page.click("play")
    wait("playing", lambda: page.text("state") == "playing")
    before = page.text("now")
    wait("time going on", lambda: page.text("now") != before)
    points = lambda: int(page.value("document.getElementById('rate-plot').dataset.points ?? '0'"))
    first = points()
    wait("a rate plot that grows", lambda: points() > first + 20)
    # How many messages a busy machine sends in a second, and a busy browser sees, is not known: a rate is there.
    hz = "Number(document.querySelector('#topics tbody tr:nth-child(2) td:nth-child(3)').textContent) > 0"
    wait("the rate of /imu/data", lambda: page.value(hz))
    wait("the sync plot", lambda: page.value("!document.getElementById('sync-plot').hidden && +document.getElementById('sync-plot').dataset.points > 3"))
    wait("the lineage graph", lambda: page.value("document.querySelectorAll('#lineage rect').length") == 5)
    assert "17" in page.text("loss-sum"), page.text("loss-sum")


def steer(page):
    page.click("title")
    page.value("document.activeElement.blur()")
    page.key(" ")
    wait("paused by the keyboard", lambda: page.text("state") == "paused")
    page.click("timeline", 0.25)
    now = "Number(document.getElementById('timeline').getAttribute('aria-valuenow'))"
    # A pixel is a quarter of a second.
    wait("seek by click", lambda: abs(page.value(now) - 75) < 1)
    page.value("document.activeElement.blur()")
    page.key("[")
    page.click("timeline", 0.75)
    wait("seek by another click", lambda: abs(page.value(now) - 225) < 1)
    page.key("]")
    wait("marks", lambda: not page.value("document.getElementById('clear-marks').disabled"))
    page.click("timeline", 0.5)
    page.key("ArrowUp")
    wait("a faster rate", lambda: page.value("document.getElementById('rate').value") == "2")
    page.click("step-forward")


def names(page):
    """Everything that can be used has a name that a screen reader says."""
    wanted = {"button", "slider", "textbox", "searchbox", "combobox", "image", "table"}
    nodes = page.command("Accessibility.getFullAXTree")["nodes"]
    seen = [node for node in nodes if not node.get("ignored") and node.get("role", {}).get("value") in wanted - {"table"}]
    nameless = [node["role"]["value"] for node in seen if not node.get("name", {}).get("value")]
    assert len(seen) >= 15 and not nameless, (len(seen), nameless)
    print("seen:", len(seen), "controls and pictures with names")


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        page = Browser(directory)
        try:
            page.size(1360, 1180)
            page.command("Page.navigate", url=URL)
            play(page)
            steer(page)
            names(page)
            page.key(" ")
            wait("playing again", lambda: page.text("state") == "playing")
            page.value("document.documentElement.dataset.theme = 'light'")
            now = "Number(document.getElementById('timeline').getAttribute('aria-valuenow'))"
            before = page.value(now)
            wait("ten more seconds of it", lambda: page.value(now) > before + 10)
            page.picture("page-light.png")
            page.click("theme")
            wait("dark", lambda: page.value("document.documentElement.dataset.theme") == "dark")
            wait("a redraw", lambda: True)
            time.sleep(0.3)
            page.picture("page-dark.png")
            page.size(480, 900)
            time.sleep(0.3)
            page.picture("page-narrow.png")
            wide = page.value("document.documentElement.scrollWidth <= window.innerWidth")
            assert wide, "the page is wider than a small window"
            assert not page.complaints, page.complaints
        finally:
            page.close()
    print("all is well")


if __name__ == "__main__":
    main()
