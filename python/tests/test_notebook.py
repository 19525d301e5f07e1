"""The tutorial runs from its first cell to its last."""

import json
from pathlib import Path

import pytest

TUTORIAL = Path(__file__).parents[2] / "docs" / "notebooks" / "tutorial.ipynb"


def test_the_tutorial_runs(bags, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    Path("my_bag").symlink_to(bags / "mcap_plain")
    names: dict = {}
    cells = [cell for cell in json.loads(TUTORIAL.read_text())["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells):
        # The last line of a cell is an expression as often as not: it is evaluated all the same.
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)  # noqa: S102
    assert len(names["frame"]) == 207
    assert len(names["aligned"]) == 4
    assert names["writer"].summary["messages"] > 0
