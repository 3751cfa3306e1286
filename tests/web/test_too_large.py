"""Files and requests that are too large, and disks that are too full for them."""

import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.batches.upload_limits import refuse_full_disk
from batchui.prompts.problems import BadInput
from tests.batches.conftest import rows
from tests.web.visiting import drafted, html, nothing_is_left, said, upload

pytestmark = pytest.mark.django_db


def test_a_file_over_the_limit_is_refused_with_both_sizes(
    web: Client, settings: Any, files_in: Path
) -> None:
    settings.MAX_UPLOAD_BYTES = 20 * 1024
    response = upload(web, rows(2000))
    assert response.status_code == 422
    sentence = "The file has 44 KB, and the limit is 20 KB. Split it into smaller files and upload"
    assert sentence in said(response)
    assert nothing_is_left(files_in)
    assert "Up to 20 KB, 5,000,000 rows" in said(web.get(reverse("new"))).replace("\xa0", " ")


class Unreadable(io.RawIOBase):
    """A request's body that nobody may ask for."""

    def read(self, size: int = -1) -> bytes:
        raise AssertionError("the body was read")


def test_a_request_over_the_limit_is_refused_before_it_is_received(web: Client) -> None:
    request = {
        "CONTENT_LENGTH": str(5 * 1024**3),
        "CONTENT_TYPE": "multipart/form-data; boundary=x",
        "wsgi.input": Unreadable(),
    }
    response = web.generic("POST", reverse("new"), **request)  # type: ignore[arg-type]
    assert response.status_code == 422
    assert "The file has 5.37 GB, and the limit is 1.07 GB." in said(response)


def test_somebody_who_is_not_signed_in_cannot_make_us_receive_anything(db: None) -> None:
    request = {"CONTENT_LENGTH": "1000000", "wsgi.input": Unreadable()}
    response = Client(raise_request_exception=False).generic(
        "POST",
        reverse("new"),
        content_type="multipart/form-data; boundary=x",
        **request,  # type: ignore[arg-type]
    )
    assert response.status_code == 302


NEARLY_FULL = "The disk of this server is nearly full, so nothing was uploaded."


def test_on_a_nearly_full_disk_an_upload_is_refused_before_it_is_received(
    web: Client, settings: Any
) -> None:
    settings.KEEP_FREE_BYTES = shutil.disk_usage(settings.DATA).free + 10**12
    request = {
        "CONTENT_LENGTH": "1000",
        "CONTENT_TYPE": "multipart/form-data; boundary=x",
        "wsgi.input": Unreadable(),
    }
    response = web.generic("POST", reverse("new"), **request)  # type: ignore[arg-type]
    assert response.status_code == 422
    assert f"{NEARLY_FULL} Tell the person who runs batchui." in said(response)


@pytest.mark.parametrize("way", ["the sample", "run again"])
def test_on_a_nearly_full_disk_no_other_way_stores_a_file(
    web: Client, settings: Any, files_in: Path, way: str
) -> None:
    batch = drafted(web, rows(3)) if way == "run again" else None
    before = sorted(files_in.rglob("*"))
    settings.KEEP_FREE_BYTES = shutil.disk_usage(settings.DATA).free + 10**12
    address = reverse("run_again", args=[batch.pk]) if batch else reverse("new_from_sample")
    assert NEARLY_FULL in html(web.post(address, follow=True))
    assert sorted(files_in.rglob("*")) == before
    assert Batch.objects.count() == (1 if batch else 0)


def test_the_room_for_the_answers_counts_too(settings: Any) -> None:
    free = shutil.disk_usage(settings.DATA).free
    settings.KEEP_FREE_BYTES = free // 2
    refuse_full_disk(free // 100)
    with pytest.raises(BadInput, match="nearly full"):
        refuse_full_disk(free // 7)


def test_more_rows_than_a_batch_takes(web: Client, settings: Any) -> None:
    settings.MAX_ROWS = 2
    page = said(web.get(drafted(web, rows(3)).get_absolute_url()))
    assert "The file has more than 2 rows, the most that one batch takes. Split it" in page
