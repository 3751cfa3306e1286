"""`manage.py bench --pages`, and what it is for: no page asks more of a larger database."""

import re

import pytest
from django.core.management import CommandError
from django.db import transaction

from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.bench.full_team import Sizes, fill
from batchui.bench.page_list import Visit, search, visits
from batchui.bench.page_times import opened, queries, signed_in, weight
from batchui.bench.pages import MOST_BY_GZIP, MOST_BYTES
from tests.batches.conftest import files_in
from tests.bench.command import bench, by_turns

__all__ = ["files_in"]

FEW = Sizes(rows=500, parts=20, batches=60)
MANY = Sizes(rows=2_000, parts=80, batches=400)


def asked(sizes: Sizes) -> dict[str, list[str]]:
    """The queries of each page beside a team of this size, which is taken away again."""
    with transaction.atomic():
        team = fill(sizes)
        assert team.ended.part_count == sizes.parts
        browser, found = signed_in(team), {}
        for visit in visits(team):
            opened(browser, visit)  # what is kept from one look to the next is there
            found[visit.name] = list(queries(browser, visit))
        transaction.set_rollback(True)
    return found


@pytest.mark.django_db
def test_no_page_asks_the_database_more_often_for_more_rows_parts_and_batches() -> None:
    few, many = asked(FEW), asked(MANY)
    assert few.keys() == many.keys()
    more = {name: many[name] for name, queries in few.items() if len(many[name]) > len(queries)}
    assert not more


@pytest.mark.django_db
def test_the_team_has_what_the_pages_are_measured_with() -> None:
    team = fill(FEW)
    assert team.ended.status == BatchStatus.PROBLEMS
    assert (team.ended.answered, team.ended.unanswered) == (495, 5)
    assert team.running.status == BatchStatus.RUNNING
    assert team.running.waiting == team.running.rows / 2
    assert team.draft.status == BatchStatus.DRAFT
    assert team.draft.problem_count == 60
    assert Batch.objects.count() == FEW.batches + 4
    assert search(team.ended, "Porto") > 0


@pytest.mark.django_db
def test_a_first_load_has_the_files_of_a_page_and_what_it_asks_for() -> None:
    team = fill(FEW)
    browser = signed_in(team)
    page = Visit("sheet", f"{team.ended.get_absolute_url()}?show=")
    again, files = weight(browser, page)
    assert again > len(opened(browser, page).content)
    assert files > 100_000, "the pieces, as they are without collectstatic"


@by_turns
def test_the_command_prints_a_line_for_each_page_and_none_is_too_heavy() -> None:
    printed = bench("--pages", "--rows", "5000", "--parts", "100", "--batches", "300")
    assert "5,000 rows in each of three batches, 100 parts, 300 small batches, sqlite" in printed
    assert re.search(r"Search for “breakfast”: [\d,]+ rows", printed)
    line = r"^(\S.*?)\s+\d+\s+\d+\s+\d+\s+([\d,]+)\s+([\d,]+)\s+[\d,]+$"
    loads = {
        name: [int(figure.replace(",", "")) for figure in figures]
        for name, *figures in re.findall(line, printed, re.MULTILINE)
    }
    named = {"batches", "sheet, opened", "draft", "running sheet", "two runs compared", "people"}
    assert named <= set(loads)
    assert not {page: most for page, (most, _) in loads.items() if most > MOST_BYTES}
    assert not {page: most for page, (_, most) in loads.items() if most > MOST_BY_GZIP}
    assert "Over 100 ms, 50,000 bytes, or 55,000 by gzip: " in printed


def test_it_is_measured_alone() -> None:
    with pytest.raises(CommandError, match="not allowed with argument --pages"):
        bench("--pages", "--whole")
