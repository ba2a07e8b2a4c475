# SPDX-License-Identifier: Apache-2.0
"""Sessions as notebooks: code that runs, streams and is interrupted, what it shows, files, notebooks of Jupyter's form."""
import json
import re

import nbclient
import nbformat
import pytest

import harness
import windows
import world
from notebook import Notebook
from windows import expect

pytestmark = pytest.mark.usefixtures("no_sessions")
science = pytest.mark.usefixtures("needs_science")


@pytest.fixture
def needs_science(served):
    if served.adder.environment != "science":
        harness.skip_without("science")


@pytest.fixture
def book(page):
    return Notebook(page).new_session()


def sees(book, number, text):
    expect(book.cell(number)).to_contain_text(text)


# ---- code ----


@pytest.mark.quick
def test_code_runs_and_keeps_its_state(book):
    book.run("x = 20\nprint('printed', x)")
    expect(book.output(1)).to_contain_text("printed 20")
    book.run("x + 22")
    sees(book, 2, "42")
    expect(book.page.get_by_role("list", name="Variables").get_by_text("x", exact=True)).to_be_visible()


def test_an_ordinary_user_runs_code(user_window):
    book = Notebook(user_window().page).new_session()
    book.run("6 * 7")
    sees(book, 1, "42")


def test_output_comes_while_the_code_runs(book):
    book.set_last("import time\nprint('first', flush=True)\ntime.sleep(600)\nprint('second')").run_last()
    expect(book.output(1)).to_contain_text("first")
    expect(book.page.get_by_role("region", name="Cell 1, Python, running")).to_be_visible()
    book.page.get_by_role("button", name="Interrupt", exact=True).click()
    book.wait_idle()
    expect(book.output(1)).not_to_contain_text("second")


def test_an_interrupt_keeps_the_variables(book):
    book.run("kept = 'still there'")
    book.set_last("print('running', flush=True)\nwhile True: pass").run_last()
    expect(book.output(2)).to_contain_text("running")
    book.page.get_by_role("button", name="Interrupt", exact=True).click()
    book.wait_idle()
    expect(book.cell(2)).to_contain_text(re.compile("KeyboardInterrupt|cancelled|interrupted", re.I))
    book.run("kept")
    sees(book, 3, "still there")


def test_an_error_shows_its_line(book):
    book.run("def ratio(a, b):\n    return a / b\n\nratio(1, 0)")
    error = book.cell(1).get_by_role("group", name="Error")
    expect(error).to_contain_text("ZeroDivisionError")
    expect(book.cell(1)).to_contain_text("line 2")


def test_run_all_stops_at_an_error(book):
    for number, code in enumerate(("a = 1", "1 / 0", "b = 2"), 1):
        if number > 1:
            book.page.keyboard.press("Escape")
            book.page.keyboard.press("b")
            expect(book.cells).to_have_count(number)
        book.set(number, code)
    book.page.get_by_role("button", name="Run all").click()
    book.wait_idle()
    book.set(3, "'a' in globals(), 'b' in globals()").run_last()
    book.wait_idle()
    sees(book, 3, "(True, False)")


def test_ten_thousand_lines(book):
    """All of them are there, and the end is in view."""
    book.run("for number in range(10000): print('line', number)")
    expect(book.output(1)).to_contain_text("line 9999")
    expect(book.output(1)).to_contain_text("line 5000")
    book.run("'afterwards'")
    sees(book, 2, "afterwards")


def test_a_thousand_lines_a_second_leave_the_page_usable(book):
    """Somebody types, opens a menu and interrupts meanwhile."""
    book.set_last("import time\nnumber = 0\nwhile True:\n    for _ in range(10):\n        number += 1; print('line', number)\n    time.sleep(0.01)").run_last()
    expect(book.output(1)).to_contain_text("line 500")
    book.focus_last().page.keyboard.type("typed = 'meanwhile'")
    expect(book.editor(2)).to_contain_text("typed = 'meanwhile'")
    book.page.get_by_role("button", name="Interrupt", exact=True).click()
    book.wait_idle()
    book.focus_last().run_last()
    book.wait_idle()
    book.run("typed")
    sees(book, 3, "meanwhile")


# ---- what is shown ----


@science
def test_a_plot_is_a_picture_and_a_chart(book):
    """The daemon has a picture of a figure, and its data: the page draws them again."""
    cell = book.run("import matplotlib.pyplot as plt\nplt.plot([1, 4, 9], label='squares'); plt.title('Growth'); plt.legend(); plt.show()")
    switch = cell.get_by_role("group", name="Show the figure as")
    expect(switch).to_be_visible()
    for button in switch.get_by_role("button").all():
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        windows.settle(book.page)
    expect(cell.locator("img, canvas, svg").first).to_be_visible()


@science
def test_a_table_of_a_million_rows(book):
    """Paged, sorted and filtered by the daemon."""
    book.run("import pandas as pd\nbig = pd.DataFrame({'number': range(1_000_000), 'half': [n / 2 for n in range(1_000_000)]})\nbig['word'] = 'w' + big.number.astype(str)")
    book.page.get_by_role("list", name="Variables").get_by_role("button", name="big").click()
    dialog = book.page.get_by_role("dialog")
    expect(dialog.get_by_text("of 1,000,000 rows")).to_be_visible()
    dialog.get_by_role("button", name="Next").click()
    expect(dialog.get_by_role("status")).to_contain_text("101–200")
    dialog.get_by_role("button", name="Last").click()
    expect(dialog.get_by_role("status")).to_contain_text("999,901–1,000,000")
    sort = dialog.get_by_role("columnheader").get_by_role("button", name="number")
    sort.click()
    sort.click()
    expect(dialog.get_by_role("columnheader", name="number")).to_have_attribute("aria-sort", "descending")
    expect(dialog.get_by_role("row").nth(1)).to_contain_text("w999999")
    dialog.get_by_label("Filter rows").fill("w99999")
    expect(dialog.get_by_role("status")).to_contain_text("11 rows, of 1,000,000 in all")
    dialog.get_by_label("Filter rows").fill("nothing like it")
    expect(dialog.get_by_text("No row contains this text.")).to_be_visible()
    assert not windows.axe_violations(book.page)


@science
def test_a_displayed_table_is_paged(book):
    cell = book.run("import pandas as pd\npd.DataFrame({'n': range(5000)})")
    expect(cell.get_by_role("table")).to_be_visible()
    cell.get_by_role("button", name="Last").click()
    expect(cell.get_by_role("table")).to_contain_text("4999")


def test_rich_output(book):
    cell = book.run(world.PLAIN)
    expect(cell.frame_locator("iframe").locator("b")).to_have_text("bold")
    expect(cell.get_by_role("group", name="Formula")).to_be_visible()
    expect(cell.get_by_role("heading", name="Note")).to_be_visible()
    expect(cell.get_by_role("group", name="JSON")).to_contain_text("a")
    expect(cell).to_contain_text("one line of output")


# ---- editing ----


def test_completion_and_hover_come_from_the_session(book):
    book.run("measurement_of_length = 12.5")
    book.set_last("measurement_of_l")
    book.page.keyboard.press("Control+Space")
    option = book.page.get_by_role("option", name=re.compile("measurement_of_length"))
    expect(option).to_be_visible()
    shown = book.page.evaluate("Date.now()")
    book.page.wait_for_function("(shown) => Date.now() > shown + 20", arg=shown)  # until then it takes no key (interactionDelay of the editor)
    book.page.keyboard.press("Enter")
    expect(book.editor(2)).to_contain_text("measurement_of_length")
    book.run_last()
    book.wait_idle()
    sees(book, 2, "12.5")


def test_cells_by_keys_alone(book):
    """Insert, change, move, delete and bring back, as in Jupyter."""
    keys = book.page.keyboard
    keys.type("first = 1")
    keys.press("Shift+Enter")
    keys.type("second = 2")
    keys.press("Escape")
    keys.press("a")
    expect(book.cells).to_have_count(3)
    keys.press("m")
    expect(book.page.get_by_role("region", name="Cell 2, Markdown")).to_be_visible()
    keys.press("Enter")
    keys.type("# A heading")
    keys.press("Control+Enter")
    expect(book.page.get_by_role("heading", name="A heading")).to_be_visible()
    keys.press("K")
    expect(book.page.get_by_role("region", name="Cell 1, Markdown")).to_be_visible()
    keys.press("d")
    keys.press("d")
    expect(book.cells).to_have_count(2)
    keys.press("z")
    expect(book.cells).to_have_count(3)


# ---- files ----


def test_files_go_in_and_out(book, tmp_path):
    content = b"a,b\n1,2\n\xff\x00 not text"
    book.page.get_by_label("Files to upload").set_input_files({"name": "data.bin", "mimeType": "text/csv", "buffer": content})
    files = book.page.get_by_role("list", name="Files of the session")
    expect(files).to_contain_text("data.bin")
    book.run("data = open('data.bin', 'rb').read()\nopen('made.txt', 'w').write('of the session')\nlen(data), data[-9:]")
    sees(book, 1, f"({len(content)}, b' not text')")
    for name, expected in (("data.bin", content), ("made.txt", b"of the session")):
        with book.page.expect_download() as download:
            files.get_by_role("link", name=f"Download {name}").click()
        download.value.save_as(tmp_path / name)
        assert (tmp_path / name).read_bytes() == expected
    files.get_by_role("button", name="made.txt").click()
    expect(book.page.get_by_role("dialog")).to_contain_text("of the session")


def test_a_file_is_dropped(book):
    """On a cell: the session has it, and the cell keeps its text."""
    drop = """(target) => {
      const data = new DataTransfer();
      data.items.add(new File(["dropped content"], "dropped.txt", { type: "text/plain" }));
      const event = { bubbles: true, cancelable: true, composed: true, dataTransfer: data };
      for (const type of ["dragenter", "dragover", "drop"]) target.dispatchEvent(new DragEvent(type, event));
    }"""
    book.set(1, "kept = 1")
    book.editor(1).evaluate(drop)
    expect(book.page.get_by_role("list", name="Files of the session")).to_contain_text("dropped.txt")
    expect(book.editor(1)).to_have_text("kept = 1")
    book.run("open('dropped.txt').read()")
    sees(book, 1, "dropped content")


# ---- notebooks of Jupyter's form ----


def exported(book, path):
    with book.page.expect_download() as download:
        book.page.get_by_role("button", name="Export the notebook (.ipynb)").click()
    assert download.value.suggested_filename.endswith(".ipynb")
    download.value.save_as(path)
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def test_a_notebook_goes_out_and_is_executed_elsewhere(book, tmp_path):
    """It is valid, has the outputs, and gives the same ones in a kernel of Jupyter."""
    book.run("import math\nprint('hello')\nmath.factorial(10)")
    book.run("from collections import Counter\nCounter('banana')")
    book.run("1 / 0")
    notebook = exported(book, tmp_path / "out.ipynb")
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source]
    assert [cell.source.splitlines()[-1] for cell in code] == ["math.factorial(10)", "Counter('banana')", "1 / 0"]

    def told(cells):
        return [[(output.output_type, output.get("text") or output.get("ename") or output["data"]["text/plain"]) for output in cell.outputs] for cell in cells]

    ours = told(code)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute()
    assert ours == told(code)


def test_a_notebook_comes_in_and_goes_out_unchanged(book, tmp_path):
    """What another program put into it stays: metadata, attachments, raw cells, outputs of every kind."""
    cells = [
        nbformat.v4.new_markdown_cell("# Title\n\n$x^2$", metadata={"tags": ["intro"]}),
        nbformat.v4.new_code_cell("print('hi')\n6 * 7", execution_count=3, metadata={"collapsed": False}, outputs=[
            nbformat.v4.new_output("stream", name="stdout", text="hi\n"),
            nbformat.v4.new_output("execute_result", {"text/plain": "42"}, execution_count=3),
        ]),
        nbformat.v4.new_code_cell("1 / 0", outputs=[nbformat.v4.new_output("error", ename="ZeroDivisionError", evalue="division by zero", traceback=["x"])]),
        nbformat.v4.new_code_cell("", outputs=[nbformat.v4.new_output("display_data", {"text/html": "<b>bold</b>", "image/png": "iVBORw0KGgo=\n"})]),
        nbformat.v4.new_code_cell("value = 6 * 7\nvalue"),
    ]
    before = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}, "custom": {"kept": True}})
    nbformat.validate(before)
    path = tmp_path / "in.ipynb"
    path.write_text(nbformat.writes(before))
    book.page.get_by_label("Notebook to import").set_input_files(path)
    expect(book.page.get_by_role("heading", name="Title")).to_be_visible()
    expect(book.cell(2)).to_contain_text("42")
    after = exported(book, tmp_path / "out.ipynb")
    nbformat.validate(after)
    assert json.dumps(after.cells, indent=1, sort_keys=True) == json.dumps(before.cells, indent=1, sort_keys=True)
    assert after.metadata["custom"] == {"kept": True}
    book.page.get_by_role("button", name="Run all").click()
    book.wait_idle()


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"nbformat": 3}', '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": 7}', "\x00" * 100])
def test_what_is_no_notebook_is_refused_with_a_sentence(book, content):
    book.page.get_by_label("Notebook to import").set_input_files({"name": "x.ipynb", "mimeType": "application/json", "buffer": content.encode()})
    expect(book.page.get_by_role("alert").or_(book.page.get_by_role("status")).filter(has_text=re.compile("notebook", re.I)).first).to_be_visible()
    expect(book.cells).to_have_count(1)


TABLE = "application/vnd.adder.table+json"
CHART = {"kind": "line", "title": None, "x_label": None, "y_label": None, "x_ticks": None, "series": [{"label": None, "x": [1], "y": [2]}]}
HOSTILE = [
    {"data": {TABLE: {"kind": "frame", "shape": [{}], "columns": [None], "head": [None, 7], "head_index": [None]}}, "metadata": {}},
    {"data": {"image/png": "AAAA"}, "metadata": {"adder": {"chart": {"charts": [None]}}}},
    {"data": {"image/png": "AAAA"}, "metadata": {"adder": {"chart": {"charts": [{**CHART, "series": 7}]}}}},
    {"data": {"application/json": {"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}}, "metadata": {"__proto__": {"polluted": 1}}},
]


def test_hostile_outputs_take_nothing_else_with_them(book, tmp_path):
    """Of an imported notebook, whose outputs may be anything; the page stays, also when it is opened again."""
    bad = [{"output_type": "display_data", **each} for each in HOSTILE]
    good = {"output_type": "stream", "name": "stdout", "text": "still here"}
    cells = [{"cell_type": "code", "id": f"c{at}", "metadata": {}, "source": "", "execution_count": None, "outputs": [each, good]} for at, each in enumerate(bad)]
    path = tmp_path / "hostile.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"__proto__": {"polluted": 1}}, "cells": cells}))
    book.page.get_by_label("Notebook to import").set_input_files(path)
    for reload in (False, True):
        if reload:
            book.page.reload()
        for number in range(1, len(cells) + 1):
            expect(book.cell(number)).to_contain_text("still here")
        expect(book.page.get_by_role("alert").filter(has_text="cannot be shown").first).to_be_visible()
        assert book.page.evaluate("() => ({}).polluted") is None
    expect(book.page.get_by_role("navigation", name="Views")).to_be_visible()


def test_a_replay(book):
    book.run("import random\nvalue = 41")
    book.run("value += 1\nvalue")
    before = book.session
    book.page.get_by_role("button", name="Replay the session").click()
    dialog = book.page.get_by_role("dialog")
    dialog.get_by_role("button", name=re.compile("Replay")).click()
    book.page.wait_for_url(lambda url: before not in url)
    book.wait_idle()
    expect(book.page.get_by_role("main")).to_contain_text("42")


# ---- what lasts ----


def test_a_reload_shows_what_was_there(book):
    book.run("print('before the reload')")
    book.set_last("unfinished = 'work'")
    book.page.reload()  # before it was time to save it
    expect(book.output(1)).to_contain_text("before the reload")
    expect(book.cell(2)).to_contain_text("unfinished = 'work'")


def test_a_cell_runs_on_while_the_page_is_reloaded(book):
    book.set_last("import time\nprint('begun', flush=True)\nfor _ in range(30): time.sleep(0.1)\nprint('ended')").run_last()
    expect(book.output(1)).to_contain_text("begun")
    book.page.reload()
    expect(book.cell(1)).to_contain_text("begun")
    expect(book.cell(1)).to_contain_text("ended")


def test_another_window_follows(book, admin_window):
    """Two windows at one session: what one runs, the other shows."""
    other = Notebook(admin_window().page).show(book.session)
    book.run("print('from the first window')")
    expect(other.page.get_by_role("main")).to_contain_text("from the first window")


def test_an_ended_session_keeps_its_notebook(book, served):
    book.run("x = 5; print('it was', x)")
    expect(book.page.get_by_role("list", name="Variables")).to_contain_text("x")  # nothing is on its way any more
    assert served.adder.call("session", "rm", book.session).returncode == 0
    expect(book.page.get_by_text("This session has ended")).to_be_visible()
    expect(book.output(1)).to_contain_text("it was 5")
    book.page.get_by_role("button", name="Start a new session and run all again").click()
    expect(book.page.get_by_text("This session has ended")).to_have_count(0)
    book.wait_idle()
    expect(book.output(1)).to_contain_text("it was 5")
