"""Addresses of the pages about batches."""

from django.urls import path

from batchui.batches.questions import Choice
from batchui.web import (
    deciding,
    downloads,
    exports,
    first_rows,
    history,
    new,
    pages,
    row_problems,
    rows,
)

urlpatterns = [
    path("", history.batches, name="batches"),
    path("history/", history.changes, name="history"),
    path("new/", new.new, name="new"),
    path("new/sample/", new.new_from_sample, name="new_from_sample"),
    path("new/sample.csv", new.sample, name="sample"),
    path("batches/<uuid:pk>/", pages.batch, name="batch"),
    path("batches/<uuid:pk>/preview/", new.preview, name="preview"),
    path("batches/<uuid:pk>/read-as/", first_rows.read_as, name="read_as"),
    path("batches/<uuid:pk>/problems/", row_problems.row_problems, name="row_problems"),
    path(
        "batches/<uuid:pk>/problems/download/",
        row_problems.download,
        name="row_problems_download",
    ),
    path("batches/<uuid:pk>/checking/", new.checking, name="checking"),
    path("batches/<uuid:pk>/start/", new.start, name="start"),
    path("batches/<uuid:pk>/discard/", new.discard, name="discard"),
    path("batches/<uuid:pk>/live/", pages.live, name="live"),
    path("batches/<uuid:pk>/timeline/", pages.timeline, name="timeline"),
    path("batches/<uuid:pk>/rows/", rows.rows, name="rows"),
    path("batches/<uuid:pk>/rows/filter/", rows.rows_filter, name="rows_filter"),
    path("batches/<uuid:pk>/rows/<int:number>/", rows.row, name="row"),
    path("batches/<uuid:pk>/stop/", pages.stop, name="stop"),
    path("batches/<uuid:pk>/stop/confirm/", deciding.confirm_stop, name="confirm_stop"),
    path("batches/<uuid:pk>/retry/", pages.retry, name="retry"),
    path("batches/<uuid:pk>/run-again/", pages.run_again, name="run_again"),
    path("batches/<uuid:pk>/ask-further/", pages.ask_further, name="ask_further"),
    path("batches/<uuid:pk>/delete/", pages.delete, name="delete"),
    path("batches/<uuid:pk>/try-now/", pages.try_now, name="try_now"),
    path("batches/<uuid:pk>/parts/", pages.parts, name="parts"),
    path("batches/<uuid:pk>/parts/<int:number>/", pages.part, name="part"),
    *(
        path(
            f"batches/<uuid:pk>/parts/<int:number>/{choice}/",
            deciding.decide,
            {"choice": choice.value},
            name=choice.replace("-", "_"),
        )
        for choice in Choice
    ),
    path(
        "batches/<uuid:pk>/parts/<int:number>/<str:choice>/confirm/",
        deciding.confirm,
        name="confirm",
    ),
    path(
        "batches/<uuid:pk>/decide/<str:question>/<str:choice>/",
        deciding.decide_all,
        name="decide_all",
    ),
    path(
        "batches/<uuid:pk>/decide/<str:question>/<str:choice>/confirm/",
        deciding.confirm_all,
        name="confirm_all",
    ),
    path(
        "decide/<str:question>/<str:choice>/", deciding.decide_everywhere, name="decide_everywhere"
    ),
    path(
        "decide/<str:question>/<str:choice>/confirm/",
        deciding.confirm_everywhere,
        name="confirm_everywhere",
    ),
    path("batches/<uuid:pk>/retry/confirm/", deciding.confirm_retry, name="confirm_retry"),
    path(
        "batches/<uuid:pk>/parts/<int:number>/replies/<int:attempt>/",
        downloads.raw_reply,
        name="raw_reply",
    ),
    path("batches/<uuid:pk>/download/<str:kind>/", downloads.download, name="download"),
    path("batches/<uuid:pk>/download/", exports.choose, name="choose_download"),
    path("batches/<uuid:pk>/exports/make/<str:kind>/", exports.make, name="make_export"),
    path("batches/<uuid:pk>/exports/<uuid:export_id>/", exports.export, name="export"),
    path(
        "batches/<uuid:pk>/exports/<uuid:export_id>/file/", exports.export_file, name="export_file"
    ),
    path("batches/<uuid:pk>/source/", downloads.source, name="source"),
]
