"""Forms that are made to be expensive: the pages stay quick, and the draft stays as it was."""

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.batches.preparing import MOST_PARTS
from batchui.batches.states import PartStatus, Question
from batchui.prompts.template import LONGEST_TEXT, MOST_USES
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from batchui.web import deciding
from batchui.web.sheet.panel import LONGEST_SHOWN
from tests.batches.conftest import TEMPLATE, MakeBatch, work
from tests.web.deciding import SEND_AGAIN, asked, confirmed, opens
from tests.web.visiting import answers, drafted, html, press_start, said
from tests.worst import assert_cheap

pytestmark = pytest.mark.django_db
BRACES = "{" * 2_000_000
LONG = "@cf/meta/llama-3.3-70b" + "-8b" * 800_000
MANY_OBJECTS = '{"a":[' + "{}," * 820_000 + "{}]}"


def test_a_long_text_of_braces_holds_up_nobody_and_is_not_kept(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,a\n")
    preview = reverse("preview", args=[batch.pk])
    web.post(preview, answers(batch))
    web.post(reverse("name", args=[batch.pk]), {"name": "Mine"})
    batch.refresh_from_db()
    assert_cheap(lambda: web.post(preview, answers(batch, template=BRACES)))
    assert_cheap(lambda: press_start(web, batch, template=BRACES))
    refused = press_start(web, batch, template="x" * (LONGEST_TEXT + 1))
    assert refused.status_code == 422
    assert "At most 100000 characters are possible, and this has 100001." in said(refused)
    batch.refresh_from_db()
    assert (batch.template, batch.name) == (TEMPLATE, "Mine")


def test_many_options_hold_up_nobody_and_are_not_kept(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,a\n")
    Batch.objects.filter(pk=batch.pk).update(options={"top_p": 0.5})
    preview = reverse("preview", args=[batch.pk])
    assert_cheap(lambda: web.post(preview, answers(batch, options=MANY_OBJECTS)))
    assert_cheap(lambda: press_start(web, batch, options=MANY_OBJECTS))
    refused = press_start(web, batch, options=" " + "[" * (LONGEST_TEXT + 1))
    assert refused.status_code == 422
    assert "At most 100000 characters are possible, and this has 100001." in said(refused)
    batch.refresh_from_db()
    assert batch.options == {"top_p": 0.5}


def test_options_as_long_as_allowed_are_kept_and_cost_little(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,a\n")
    Batch.objects.filter(pk=batch.pk).update(options={"top_p": 0.5})
    start, end = '{"response_format":{"a":[', "{}]}}"
    pieces, rest = divmod(LONGEST_TEXT - len(start + end), len("{},"))
    options = start + "{}," * pieces + end + " " * rest
    assert len(options) == LONGEST_TEXT
    preview = reverse("preview", args=[batch.pk])
    assert_cheap(lambda: web.post(preview, answers(batch, options=options)))
    batch.refresh_from_db()
    assert list(batch.options) == ["response_format"]


def test_long_cells_named_often_cost_little_in_the_preview(web: Client) -> None:
    batch = drafted(web, b"a,b\n" + b"x" * 990_000 + b",1\n")
    preview = reverse("preview", args=[batch.pk])
    assert_cheap(lambda: web.post(preview, answers(batch, template="{{a}}" * MOST_USES)))


def test_a_row_is_shown_as_far_as_a_page_can_show_it(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    short, long = b"x" * LONGEST_SHOWN, b"y" * 500_000
    batch = work(start(b"id,text\n1,%b\n2,%b\n" % (short, long), template="{{text}}"))
    first, second = (html(web.get(reverse("row", args=[batch.pk, row]))) for row in (2, 3))
    assert "x" * LONGEST_SHOWN in first
    assert "longer than a page can show" not in first
    assert "longer than a page can show" in second
    assert len(second) < 4 * LONGEST_SHOWN


def test_a_long_name_of_a_model_holds_up_nobody_and_is_not_shown_whole(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,a\n")
    assert_cheap(lambda: web.post(reverse("preview", args=[batch.pk]), answers(batch, model=LONG)))
    assert_cheap(lambda: press_start(web, batch, model=LONG))
    refused = press_start(web, batch, model=LONG)
    assert refused.status_code == 422
    assert f"no model “{LONG[:200]}…” that takes batches" in said(refused)
    assert len(refused.content) < 100_000


def test_a_decision_names_as_many_parts_as_a_batch_can_have_and_no_more(
    web: Client, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = asked(team, Question.UNCLEAR, parts=3)
    decide = reverse("decide_all", args=[batch.pk, *SEND_AGAIN])
    too_many = {"parts": ",".join(map(str, range(MOST_PARTS + 1)))}
    assert_cheap(lambda: web.post(decide, too_many))
    refused = web.post(decide, too_many)
    assert refused.status_code == 400
    assert "More than 20,000 parts cannot be decided about at once. Nothing" in said(refused)
    assert batch.parts.filter(status=PartStatus.UNSURE).count() == 3
    monkeypatch.setattr(deciding, "MOST_PARTS", 2)
    assert "2 parts are sent now." in html(confirmed(web, opens(batch, *SEND_AGAIN)))
    assert batch.parts.filter(status=PartStatus.UNSURE).count() == 1
