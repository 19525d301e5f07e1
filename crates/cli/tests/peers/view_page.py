"""The page of `timeloom view` with a real bag in Chromium: play, pause, seek by click, plots, a picture.

usage: view_page.py <chromium> <url> <directory for pictures>
"""

import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parents[3] / "view" / "tests" / "it"))
from browser import URL, Browser, wait

NOW = "Number(document.getElementById('timeline').getAttribute('aria-valuenow'))"


def points(page, plot):
    return int(page.value(f"document.getElementById('{plot}').dataset.points ?? '0'"))


def use(page):
    wait("the first snapshot", lambda: page.text("state") == "paused")
    assert page.text("title") == "my_bag", page.text("title")
    wait("the topics", lambda: page.value("document.querySelectorAll('#topics tbody tr').length") > 10)
    page.click("timeline", 0.5)
    duration = page.value("Number(document.getElementById('timeline').getAttribute('aria-valuemax'))")
    wait("seek by click", lambda: abs(page.value(NOW) - duration / 2) < duration / 50)
    page.click("timeline", 0.05)
    wait("seek back by click", lambda: page.value(NOW) < duration / 10)
    page.click("play")
    wait("playing", lambda: page.text("state") == "playing")
    wait("time going on", lambda: page.value(NOW) > duration / 10)
    wait("a rate plot that grows", lambda: points(page, "rate-plot") > 50)
    page.value("document.activeElement.blur()")
    page.key(" ")
    wait("paused by the keyboard", lambda: page.text("state") == "paused")
    # Not at the end, where the next message is that of the next lap.
    page.click("timeline", 0.3)
    wait("seek while paused", lambda: abs(page.value(NOW) - duration * 0.3) < duration / 50)
    stands = page.value(NOW)
    page.click("step-forward")
    wait("a step to the next message", lambda: page.value(NOW) > stands)
    page.click("play")
    wait("the lap after this one", lambda: "lap" in page.text("facts"))
    assert not page.complaints, page.complaints


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        page = Browser(directory)
        try:
            page.size(1360, 1180)
            page.command("Page.navigate", url=URL)
            use(page)
            page.picture("bag.png")
        finally:
            page.close()
    print("all is well")


main()
