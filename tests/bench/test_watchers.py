"""`manage.py bench --watchers`."""

import pytest
from django.core.management import CommandError

from batchui.bench.polls import Asks
from tests.bench.command import bench, by_turns, figures

PAGE = (
    '<section id="live" class="stack" hx-get="/batches/1/live/?seen=3&amp;was=running" '
    'hx-trigger="every 2s, seen"></section>'
    '<form id="watched" hidden><input name="rows" value="1a0_2_9">'
    '<input name="q" value="a &amp; b"></form>'
)


def test_a_watcher_asks_what_its_page_asks_and_goes_on_with_what_comes() -> None:
    first = Asks.of(PAGE)
    assert first == Asks("/batches/1/live/?seen=3&was=running", "rows=1a0_2_9&q=a+%26+b", 2.0)
    later = '<section id="live" hx-get="/x/?seen=4" hx-trigger="every 5s"></section>'
    assert Asks.of(later, first) == Asks("/x/?seen=4", "rows=1a0_2_9&q=a+%26+b", 5.0)
    assert Asks.of("<p>Nothing</p>", first) == first
    assert Asks.of('<section id="live" hx-get="/x/" hx-trigger="seen"></section>', first) is None


@pytest.mark.processes
@by_turns
def test_watchers_see_what_changes_and_else_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batchui.bench.watchers.SECONDS", 4.5)
    monkeypatch.setattr("batchui.bench.watchers.BATCHES", 2)
    monkeypatch.setattr("batchui.bench.polls.SHORTEST_TO_OPEN", 1.0)
    monkeypatch.setattr("batchui.bench.polls.TO_WARM_UP", 4.0)
    printed = bench("--watchers", "6")
    # Changes come late where the machine has much to do, and then a poll has none.
    for name, least, most in (
        ("one batch, nothing changes", 0, 0),
        ("the history, nothing changes", 0, 0),
        ("2 batches that change", 50, 100),
        ("the history, they change", 50, 100),
    ):
        polls, news, p50, p95, worst, _, _, _, opened = figures(printed, name)
        assert 1 <= polls <= 4
        assert least <= news <= most
        assert p50 <= p95 <= worst + 1
        assert opened == 0
    assert "Of its polls" not in printed


def test_it_is_measured_alone_and_with_somebody() -> None:
    with pytest.raises(CommandError, match="not allowed with argument --watchers"):
        bench("--watchers", "5", "--whole")
    with pytest.raises(CommandError, match="--watchers must be at least 1"):
        bench("--watchers", "0")
