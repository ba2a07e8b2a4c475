# SPDX-License-Identifier: Apache-2.0
"""The notebook as somebody uses it: by the names of what is shown."""
import re

from windows import expect, settle


class Notebook:
    def __init__(self, page):
        self.page = page

    @property
    def cells(self):
        return self.page.get_by_role("region", name=re.compile(r"^Cell \d+, "))

    def cell(self, number):
        return self.page.get_by_role("region", name=re.compile(rf"^Cell {number}, "))

    @property
    def session(self):
        """The id of the session that is shown."""
        return self.page.url.rpartition("/")[2]

    def new_session(self, name=None, environment=None):
        """Starts one in the form, and leaves the focus in its first cell."""
        self.page.goto("/#/notebook")
        settle(self.page)
        form = self.page.get_by_role("button", name="Start the session")
        if form.count() == 0:
            self.page.get_by_role("button", name="New session").click()
        before = self.page.url
        if environment:
            self.page.get_by_label("Environment").select_option(environment)
        if name:
            self.page.get_by_label("Name (optional)").fill(name)
        form.click()
        self.page.wait_for_url(lambda url: url != before and re.search(r"#/notebook/[0-9a-f-]{36}$", url))
        self.editor(1).wait_for()
        return self

    def show(self, session):
        self.page.goto(f"/#/notebook/{session}")
        self.cells.first.wait_for()
        return self

    # ---- text ----

    def editor(self, number):
        return self.cell(number).get_by_role("textbox")

    def focus_last(self):
        self.editor(self.cells.count()).click()
        return self

    def set(self, number, code):
        """Puts CODE into a cell, as somebody pastes it."""
        self.editor(number).click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(code)
        return self

    def set_last(self, code):
        return self.set(self.cells.count(), code)

    # ---- runs ----

    def run_last(self):
        self.page.keyboard.press("Shift+Enter")
        return self

    def run(self, code):
        """Runs CODE in the last cell, to its end; that cell."""
        number = self.cells.count()
        self.set(number, code).run_last()
        self.wait_idle()
        return self.cell(number)

    def wait_idle(self):
        """Until nothing runs: cells that run or wait say so in their names."""
        expect(self.page.get_by_role("region", name=re.compile(r"^Cell \d+, .*, (running|queued)"))).to_have_count(0)
        expect(self.page.get_by_role("button", name="Interrupt", exact=True)).to_be_disabled()

    def output(self, number, name="Standard output"):
        return self.cell(number).get_by_role("group", name=name)
