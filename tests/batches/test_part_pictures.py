"""The pictures of a part: gathered before it is sent, kept as sent, and what goes wrong."""

import io
import json
import time
import zipfile
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from PIL import Image

from batchui.batches import decisions, files, part_pictures, pointers, results, sending
from batchui.batches.models import Batch, Part
from batchui.batches.states import AnswerStatus, PartStatus
from batchui.doctor import examine
from batchui.doctor.records import Scope
from batchui.pictures import fetching
from batchui.prompts.ask import Ask
from batchui.prompts.pictures import LARGEST_PICTURE
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, posts, send_all, work
from tests.batches.picturing import (
    LOOK,
    PictureServer,
    add_archive,
    archive,
    jpeg,
    naming,
    picture_server,
)

pytestmark = pytest.mark.django_db

Begun = Callable[..., Batch]
Bodies = list[list[dict[str, Any]]]


@pytest.fixture
def begun(receive: MakeBatch) -> Callable[..., Batch]:
    """Start a file with its pictures; returns the batch, cut."""

    def make(content: bytes, photos: bytes | None = None, **asked: Any) -> Batch:
        batch = receive(content)
        if photos is not None:
            add_archive(batch, photos)
        ask = Ask(**LOOK | asked)
        assert decisions.start(batch, by=None, ask=ask, prepare_now=True)
        batch.refresh_from_db()
        return batch

    return make


@pytest.fixture
def server(settings: Any) -> Iterator[PictureServer]:
    with picture_server(a_jpg=jpeg("red"), b_jpg=jpeg("blue")) as served:
        settings.PICTURE_HOSTS = frozenset({served.host})
        yield served


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> list[list[dict[str, Any]]]:
    """The items of each request, in order."""
    kept: list[list[dict[str, Any]]] = []
    real = sending.post

    def post(client: Any, *, model: str, body: bytes) -> Any:
        kept.append(json.loads(body)["requests"])
        assert len(body) <= 8_000_000
        return real(client, model=model, body=body)

    monkeypatch.setattr(sending, "post", post)
    return kept


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that send none now are not asked again within a pass."""
    monkeypatch.setattr(fetching, "PAUSES", ())


def became(batch: Batch) -> list[tuple[str, str | None]]:
    return [(row.status, row.error) for row in results.results(batch)]


def let_pauses_end() -> None:
    Part.objects.exclude(resume_at=None).update(resume_at=timezone.now())


# -- sent -----------------------------------------------------------------------------------------


def test_each_row_is_sent_with_its_own_picture(
    sandbox: RunningSandbox, begun: Begun, server: PictureServer, bodies: Bodies
) -> None:
    batch = work(begun(naming(server.address("/a.jpg"), server.address("/b.jpg"))))
    assert (batch.answered, batch.rows) == (2, 2)
    [items] = bodies
    colours = []
    for item in items:
        text, picture = item["messages"][-1]["content"]
        assert text == {"type": "text", "text": "What is it?"}
        assert picture["type"] == "image_url"
        kind, _, content = picture["image_url"]["url"].partition(",")
        assert kind == "data:image/jpeg;base64"
        colours.append(Image.open(io.BytesIO(b64decode(content))).convert("RGB").getpixel((9, 9)))
    assert colours[0][0] > 200 > 60 > colours[0][2]
    assert colours[1][2] > 200 > 60 > colours[1][0]
    assert [item["external_reference"] for item in items] == ["2", "3"]


def test_pictures_come_from_an_archive(
    sandbox: RunningSandbox, begun: Begun, bodies: Bodies
) -> None:
    batch = work(begun(naming("a.jpg", "b.jpg"), archive("a.jpg", "photos/b.jpg")))
    assert (batch.answered, len(bodies[0])) == (2, 2)


def test_the_words_of_a_question_are_sent_beside_the_picture(
    sandbox: RunningSandbox, begun: Begun, bodies: Bodies
) -> None:
    work(begun(naming("a.jpg"), archive("a.jpg"), template="Is {{id}} new?", instruction="Be kind"))
    system, user = bodies[0][0]["messages"]
    assert system == {"role": "system", "content": "Be kind"}
    assert user["content"][0]["text"] == "Is 1 new?"


def test_a_part_has_no_more_rows_than_pictures_fit_into_a_request(
    receive: MakeBatch, begun: Begun
) -> None:
    batch = begun(naming(*["a.jpg"] * 1_000), archive("a.jpg"))
    sizes = list(batch.parts.values_list("rows", flat=True))
    assert max(sizes) == 49
    assert 49 * (LARGEST_PICTURE * 4 / 3) < 8_000_000


def test_a_large_picture_is_scaled_down(
    sandbox: RunningSandbox, begun: Begun, server: PictureServer, bodies: Bodies
) -> None:
    noise = Image.effect_noise((3000, 2000), 90)
    large = io.BytesIO()
    noise.save(large, "JPEG", quality=95)
    server.replies["/a.jpg"] = large.getvalue()
    work(begun(naming(server.address("/a.jpg"))))
    url = bodies[0][0]["messages"][-1]["content"][1]["image_url"]["url"]
    content = b64decode(url.partition(",")[2])
    assert len(content) <= LARGEST_PICTURE < len(large.getvalue())
    assert max(Image.open(io.BytesIO(content)).size) <= 1024


def test_what_was_sent_is_kept(sandbox: RunningSandbox, begun: Begun) -> None:
    batch = work(begun(naming("a.jpg", "b.jpg"), archive("a.jpg", "b.jpg")))
    part = batch.parts.get()
    with files.open_file(part.pictures_file) as stored, zipfile.ZipFile(stored) as kept:
        assert kept.namelist() == ["0.jpg", "1.jpg"]
    assert part_pictures.of_row(part, 1) is not None
    assert part_pictures.of_row(part, 2) is None
    assert part.pictures_file in pointers.files_of(part)


def test_a_row_that_is_asked_again_needs_no_picture_again(
    sandbox: RunningSandbox, begun: Begun, server: PictureServer
) -> None:
    sandbox.script({"fault": "empty", "times": 1, "call": "poll"})
    batch = work(begun(naming(server.address("/a.jpg"))))
    assert batch.empty == 1
    decisions.retry(batch, by=None)
    assert work(batch).answered == 1
    assert server.asked == ["/a.jpg"]


def test_rows_are_sent_without_one_where_no_pictures_are_wanted(
    sandbox: RunningSandbox, begun: Begun, bodies: Bodies
) -> None:
    batch = work(begun(naming("a.jpg"), archive("a.jpg"), picture_column="", template="{{photo}}"))
    assert bodies[0][0]["messages"][-1]["content"] == "a.jpg"
    assert batch.parts.get().pictures_file == ""


def test_the_same_is_asked_once_only_of_the_same_picture(
    sandbox: RunningSandbox, begun: Begun, bodies: Bodies
) -> None:
    batch = begun(naming("a.jpg", "b.jpg", "a.jpg"), archive("a.jpg", "b.jpg"), ask_once=True)
    assert work(batch).answered == 3
    assert [item["external_reference"] for item in bodies[0]] == ["2", "3"]


def test_a_row_without_a_picture_is_skipped(sandbox: RunningSandbox, begun: Begun) -> None:
    batch = work(begun(naming("a.jpg", "", " "), archive("a.jpg")))
    assert (batch.answered, batch.skipped) == (1, 2)


# -- not to be had --------------------------------------------------------------------------------


def test_a_row_whose_picture_is_missing_fails_and_the_others_are_asked(
    sandbox: RunningSandbox, begun: Begun, bodies: Bodies
) -> None:
    batch = work(begun(naming("a.jpg", "z.jpg", "b.jpg"), archive("a.jpg", "b.jpg")))
    assert (batch.answered, batch.failed) == (2, 1)
    (_, _), (status, error), (_, _) = became(batch)
    assert (status, "z.jpg" in str(error)) == (AnswerStatus.FAILED, True)
    assert [item["external_reference"] for item in bodies[0]] == ["2", "4"]
    told = [event.text for event in batch.events.all() if "picture" in event.text]
    assert len(told) == 1
    assert told[0].startswith("Part 1: 1 row failed for want of a picture. The first: ")


def test_a_part_without_any_picture_ends_without_a_request(
    sandbox: RunningSandbox, begun: Begun
) -> None:
    batch = work(begun(naming("x.jpg", "y.jpg"), archive("a.jpg")))
    assert (batch.failed, posts(sandbox), batch.parts.get().pictures_file) == (2, 0, "")


def test_a_retry_looks_for_a_picture_again(
    sandbox: RunningSandbox, begun: Begun, server: PictureServer
) -> None:
    batch = work(begun(naming(server.address("/a.jpg"), server.address("/late.jpg"))))
    assert (batch.answered, batch.failed) == (1, 1)
    server.replies["/late.jpg"] = jpeg("green")
    decisions.retry(batch, by=None)
    assert work(batch).answered == 2
    assert sorted(server.asked) == ["/a.jpg", "/late.jpg", "/late.jpg"]


def test_an_address_that_is_not_public_is_not_fetched(
    sandbox: RunningSandbox, begun: Begun, server: PictureServer, settings: Any
) -> None:
    settings.PICTURE_HOSTS = frozenset()
    batch = work(begun(naming(server.address("/a.jpg"))))
    assert (batch.failed, server.asked, posts(sandbox)) == (1, [], 0)


def test_a_server_that_does_not_answer_is_asked_again_later(
    sandbox: RunningSandbox, begun: Begun, server: PictureServer, quick: None
) -> None:
    server.replies["/a.jpg"] = 503
    batch = begun(naming(server.address("/a.jpg"), server.address("/b.jpg")))
    for seen, pause in enumerate(part_pictures.PAUSES, 1):
        send_all()
        part = batch.parts.get()
        assert (part.status, part.odd_seen) == (PartStatus.READY, seen)
        assert part.resume_at is not None
        assert abs(part.resume_at - timezone.now() - pause) < timedelta(seconds=30)
        assert part.message.startswith("1 picture could not be fetched yet. ")
        assert "503" in part.message
        let_pauses_end()
    send_all()
    assert work(batch).failed == 1
    assert batch.answered == 1
    assert server.asked.count("/b.jpg") == 1
    part = batch.parts.get()
    assert (part.odd_kind, part.odd_seen) == ("", 0)


def test_a_server_that_answers_at_last_costs_no_row(
    sandbox: RunningSandbox, begun: Begun, server: PictureServer, quick: None
) -> None:
    server.replies["/a.jpg"] = 503
    batch = begun(naming(server.address("/a.jpg")))
    send_all()
    server.replies["/a.jpg"] = jpeg()
    let_pauses_end()
    assert work(batch).answered == 1


def test_a_host_that_sends_none_is_left_alone_for_the_rest_of_a_pass(
    sandbox: RunningSandbox, begun: Begun, server: PictureServer, quick: None
) -> None:
    names = [f"/{number}.jpg" for number in range(20)]
    server.replies |= dict.fromkeys(names, 503)
    batch = begun(naming(*map(server.address, names)), archive("z.jpg"))
    send_all()
    at_most = part_pictures.ENOUGH + part_pictures.AT_ONCE_OF_PART
    assert part_pictures.ENOUGH <= len(server.asked) <= at_most
    assert batch.parts.get().message.startswith("20 pictures could not be fetched yet. ")
    server.replies |= dict.fromkeys(names, jpeg())
    let_pauses_end()
    assert work(batch).answered == 20


def test_a_host_that_sends_one_in_between_is_asked_on(begun: Begun, server: PictureServer) -> None:
    part = begun(naming(server.address("/a.jpg"))).parts.get()
    failed = Counter({"“127.0.0.1”": part_pictures.ENOUGH - 1})
    deadline = time.monotonic() + 60
    part_pictures._fetch(part, server.address("/a.jpg"), deadline=deadline, failed=failed)
    assert failed.total() == 0


def test_a_retry_is_as_patient_as_the_first_time(
    sandbox: RunningSandbox, begun: Begun, server: PictureServer, quick: None
) -> None:
    server.replies["/a.jpg"] = 503
    batch = begun(naming(server.address("/a.jpg")))
    for _ in range(1 + len(part_pictures.PAUSES)):
        send_all()
        let_pauses_end()
    batch.refresh_from_db()
    assert batch.failed == 1
    decisions.retry(batch, by=None)
    send_all()
    part = batch.parts.get()
    assert (part.status, part.odd_seen) == (PartStatus.READY, 1)


def test_a_part_with_more_pictures_than_time_goes_on_with_the_others(
    sandbox: RunningSandbox, begun: Begun, server: PictureServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = begun(naming(server.address("/a.jpg"), server.address("/b.jpg")))
    monkeypatch.setattr(part_pictures, "SECONDS", -1)
    send_all()
    assert (batch.parts.get().status, server.asked) == (PartStatus.READY, [])
    monkeypatch.undo()
    assert work(batch).answered == 2


def test_pictures_that_were_gathered_are_not_gathered_twice(
    sandbox: RunningSandbox, begun: Begun, server: PictureServer
) -> None:
    batch = begun(naming(server.address("/a.jpg"), server.address("/late.jpg")))
    send_all()  # one of them fails, so the part is given back
    assert batch.parts.get().status == PartStatus.READY
    assert work(batch).answered == 1
    assert sorted(server.asked) == ["/a.jpg", "/late.jpg"]


def test_a_damaged_file_of_pictures_is_gathered_again(
    sandbox: RunningSandbox, begun: Begun, files_in: Path
) -> None:
    batch = begun(naming("a.jpg", "z.jpg"), archive("a.jpg"))
    send_all()
    (files_in / batch.parts.get().pictures_file).write_bytes(b"PK damaged")
    assert work(batch).answered == 1


def test_a_part_that_is_stopped_meanwhile_is_not_sent(
    sandbox: RunningSandbox, begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = begun(naming("a.jpg"), archive("a.jpg"))
    real = part_pictures._fetched

    def stopped(part: Part, positions: Any) -> Any:
        decisions.stop(batch, by=None)
        return real(part, positions)

    monkeypatch.setattr(part_pictures, "_fetched", stopped)
    send_all()
    assert posts(sandbox) == 0
    batch.refresh_from_db()
    assert batch.unsent == 1


def test_the_doctor_finds_nothing(sandbox: RunningSandbox, begun: Begun) -> None:
    work(begun(naming("a.jpg", "z.jpg", ""), archive("a.jpg")))
    assert examine.examine(Scope(), pause=0).findings == []
