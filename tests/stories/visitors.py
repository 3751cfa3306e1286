"""People in front of real browsers, and what is wrong with the pages they see."""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conftest import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, ViewportSize

PHONE: "ViewportSize" = {"width": 375, "height": 760}
PASSWORD = "kettle-orchard-9"
HOME = re.compile(r"://[^/]+/$")
MODEL = "@cf/meta/llama-4-scout-17b-16e-instruct"
# The addresses of what refreshes itself.
POLLED = re.compile(r"/(live|rows|timeline|history|checking)/(\?|$)")


@dataclass
class Visitor:
    """One person's browser, and everything it complained about or asked for."""

    page: "Page"
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def polls(self) -> list[str]:
        """The requests so far by which parts of pages refreshed themselves."""
        return [url for url in self.requests if POLLED.search(url)]

    def come_in(self, link: str, *, name: str, email: str, team: str = "") -> None:
        """Use a one-time link."""
        page = self.page
        page.goto(link)
        page.get_by_label("Your name").fill(name)
        page.get_by_label("E-mail address").fill(email)
        if team:
            page.get_by_label("Name of your team").fill(team)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.locator("main form button.primary").click()
        page.wait_for_url(HOME)

    def invite(self) -> str:
        """Make a link for a colleague, and copy it from the page."""
        page = self.page
        page.goto("/people/")
        page.get_by_role("button", name="Invite a colleague").click()
        page.get_by_role("button", name="Make the link").click()
        return page.get_by_label("Link", exact=True).input_value()

    def upload(self, file: Path) -> str:
        """Choose a file on the New batch page; returns the batch's id."""
        page = self.page
        page.goto("/new/")
        page.set_input_files("#id_file", file)
        page.wait_for_url(re.compile(r"/batches/[0-9a-f-]+/$"))
        return batch_id(page.url)

    def shows_all_rows(self) -> None:
        """Wait for the rows that a first load leaves out, as if she had scrolled to them."""
        self.page.wait_for_function("() => window.htmx !== undefined")
        gaps = self.page.locator("#grid-rows .gap")
        gaps.evaluate_all("all => { for (const gap of all) window.htmx.trigger(gap, 'fill'); }")
        gaps.first.wait_for(state="detached")

    def start_button(self) -> "Locator":
        """The Start button, once the file is read."""
        return self.page.locator("#check button.primary:enabled")

    def choose_model(self, model: str) -> None:
        """Choose the model in the list that one line of the page opens."""
        self.page.get_by_role("button", name="Change the model").click()
        self.page.locator(f"#model-dialog [value='{model}']").check()
        self.page.keyboard.press("Escape")

    def start(self, file: Path, *, ask: str, model: str = MODEL) -> str:
        """Upload and start; returns the batch's id, with its page open."""
        batch = self.upload(file)
        self.page.locator("#id_template").fill(ask)
        self.choose_model(model)
        self.start_button().click()
        self.page.locator("#live").wait_for()
        return batch

    def shown_status(self) -> str:
        """The status at the top of a batch's page."""
        return str(self.page.locator("#live .status").first.get_attribute("data-status"))

    def has_status(self, status: str) -> None:
        """Wait until the top of a batch's page shows this status."""
        top = self.page.locator("#live .status").first
        top.and_(self.page.locator(f"[data-status='{status}']")).wait_for()

    def says_answered(self, count: str) -> None:
        """Wait until the page of a batch shows so many answers, such as `60 of 60`."""
        self.page.locator("#live strong", has_text=f"{count} answered").wait_for()

    def status_in_history(self, batch: str) -> str:
        """The status of a batch in the history."""
        status = self.page.locator(f"#batch-{batch} .status").first
        return str(status.get_attribute("data-status"))

    def toast(self, text: str | re.Pattern[str]) -> "Locator":
        """A message that says `text`."""
        return self.page.locator(".toast", has_text=text)


@contextmanager
def visiting(browser: "Browser", address: str, **options: Any) -> Iterator[Visitor]:
    """A browser context of its own. Whatever it complains about is kept, content security policy
    included; answers with an error status are not complaints."""
    with browser.new_context(base_url=address, **options) as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        visitor = Visitor(page)

        def listen(message: "ConsoleMessage") -> None:
            expected = ("Failed to load resource", "Response Status Error Code")
            # htmx tells of a refresh that leaving the page cut short; nobody is there to see it.
            expected += ("htmx:sendAbort", "htmx:afterRequest")
            if message.type in ("error", "warning") and not message.text.startswith(expected):
                visitor.complaints.append(message.text)

        def note(request: "Request") -> None:
            visitor.requests.append(request.url)
            if request.is_navigation_request():
                visitor.loads.append(request.url)

        page.on("console", listen)
        page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
        page.on("request", note)
        yield visitor


def batch_id(address: str) -> str:
    """The id in a batch's address."""
    found = re.search(r"/batches/([0-9a-f-]{36})/", address)
    assert found, f"{address} is not the address of a batch"
    return found[1]


# The rules of axe that look at colours: in the dark only these can find something else.
COLOURS = ("color-contrast", "link-in-text-block")


def faults(page: "Page", *, rules: Collection[str] = (), but: Collection[str] = ()) -> list[str]:
    """What axe finds, however slight, by all of its rules (best practices, too) or by some.

    rules: these alone. but: all but these.
    """
    from axe_playwright_python.base import AXE_SCRIPT

    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = list(rules)
    options["rules"] = {rule: {"enabled": False} for rule in but}
    found = page.evaluate("(options) => axe.run(options)", options)["violations"]
    return [
        f"{violation['id']}: {[node['html'][:160] for node in violation['nodes']]}"
        for violation in found
    ]


def gets_the_focus(element: "Locator") -> None:
    """Wait until an element has the focus: it comes a moment after what brings it."""
    from playwright.sync_api import expect

    expect(element).to_be_focused(timeout=PATIENCE)


def sticks_out(page: "Page") -> list[str]:
    """What reaches beyond the right edge and makes the whole page scroll sideways."""
    found: list[str] = page.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth ? [] :
            [...document.querySelectorAll("body *")]
                .filter((e) => e.getBoundingClientRect().right > innerWidth)
                .map((e) => e.outerHTML.slice(0, 120))"""
    )
    return found
