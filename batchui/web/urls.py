"""Addresses of the pages about batches."""

from django.urls import include, path

from batchui.batches.questions import Choice
from batchui.web import (
    asking_again,
    comparing,
    deciding,
    deleted,
    downloads,
    example_rows,
    exports,
    first_rows,
    history,
    history_days,
    labels,
    look_ups,
    naming,
    new,
    one_prompt,
    pages,
    row_problems,
    saved_questions,
    telling,
)
from batchui.web.asking import filling_in, listed_models, starting, where
from batchui.web.asking import pictures as asking_pictures
from batchui.web.asking import views as asking
from batchui.web.sheet import editing, glance, likeness, live, searching
from batchui.web.sheet import pages as sheet
from batchui.web.sheet import pictures as sheet_pictures

urlpatterns = [
    path("", history.batches, name="batches"),
    path("history/", history.changes, name="history"),
    path("history/ended/", telling.ended, name="ended"),
    path("history/days/", history_days.days, name="days"),
    path("deleted/", deleted.deleted, name="deleted"),
    path("deleted/<uuid:pk>/bring-back/", deleted.bring_back, name="bring_back"),
    path("deleted/<uuid:pk>/let-go/", deleted.let_go, name="let_go"),
    path("new/", new.new, name="new"),
    path("new/examples/", example_rows.new_examples, name="new_examples"),
    path("new/prompt/", one_prompt.new_prompt, name="new_prompt"),
    path("new/sample/", new.new_from_sample, name="new_from_sample"),
    path("new/sample.csv", new.sample, name="sample"),
    path("batches/<uuid:pk>/", sheet.batch, name="batch"),
    path("batches/<uuid:pk>/name/", naming.name, name="name"),
    path("batches/<uuid:pk>/preview/", asking.preview, name="preview"),
    path("batches/<uuid:pk>/answer-columns/", asking.answer_columns, name="answer_columns"),
    path("batches/<uuid:pk>/encodings/", first_rows.encodings, name="encodings"),
    path("batches/<uuid:pk>/read-as/", first_rows.read_as, name="read_as"),
    path("batches/<uuid:pk>/problems/", row_problems.row_problems, name="row_problems"),
    path(
        "batches/<uuid:pk>/problems/download/",
        row_problems.download,
        name="row_problems_download",
    ),
    path("batches/<uuid:pk>/job/<slug:slug>/", filling_in.choose_job, name="choose_job"),
    path("batches/<uuid:pk>/models/", listed_models.models, name="models"),
    path("batches/<uuid:pk>/models/read/", listed_models.read_models, name="read_models"),
    path("batches/<uuid:pk>/models/add/", listed_models.add_model, name="add_model"),
    path("batches/<uuid:pk>/start-from/<slug:slug>/", filling_in.start_from, name="start_from"),
    path("batches/<uuid:pk>/use-question/<int:saved>/", filling_in.use_saved, name="use_saved"),
    path("batches/<uuid:pk>/undo-question/", filling_in.undo, name="undo_question"),
    path("batches/<uuid:pk>/save-question/", filling_in.save, name="save_question"),
    path("look-ups/", look_ups.under_way, name="look_ups"),
    path("look-ups/new/", look_ups.begin, name="begin_look_up"),
    path("look-ups/<uuid:pk>/", look_ups.look_up, name="look_up"),
    path("look-ups/<uuid:pk>/again/", look_ups.look_again, name="look_again"),
    path("look-ups/<uuid:pk>/forget/", look_ups.forget, name="forget_look_up"),
    path("batches/<uuid:pk>/labels/", labels.of_batch, name="batch_labels"),
    path("compare/", comparing.two, name="compare_two"),
    path("batches/<uuid:pk>/compare/", comparing.choose, name="choose_run"),
    path("batches/<uuid:pk>/compare/<uuid:other>/", comparing.compare, name="compare"),
    path(
        "batches/<uuid:pk>/compare/<uuid:other>/download/",
        comparing.download,
        name="compare_download",
    ),
    path("labels/", labels.of_team, name="labels"),
    path("labels/<int:pk>/rename/", labels.rename, name="rename_label"),
    path("labels/<int:pk>/delete/", labels.delete, name="delete_label"),
    path("questions/", saved_questions.saved, name="saved_questions"),
    path("questions/<int:pk>/rename/", saved_questions.rename, name="rename_question"),
    path("questions/<int:pk>/delete/", saved_questions.delete, name="delete_question"),
    path("questions/<int:pk>/restore/", saved_questions.restore, name="restore_question"),
    path("batches/<uuid:pk>/checking/", asking.checking, name="checking"),
    path("batches/<uuid:pk>/goes-to/", where.choose, name="goes_to"),
    path("batches/<uuid:pk>/start/", starting.start, name="start"),
    path("batches/<uuid:pk>/discard/", deleted.discard, name="discard"),
    path("batches/<uuid:pk>/tries/", include("batchui.web.trying.urls")),
    path("batches/<uuid:pk>/live/", live.live, name="live"),
    path("batches/<uuid:pk>/attention/", sheet.attention, name="attention"),
    path("batches/<uuid:pk>/glance/", glance.glance, name="glance"),
    path(
        "batches/<uuid:pk>/searches/<uuid:search_id>/stop/",
        searching.stop_search,
        name="stop_search",
    ),
    path("batches/<uuid:pk>/ask-again/", asking_again.ask_again, name="ask_again_rows"),
    path(
        "batches/<uuid:pk>/ask-again/confirm/",
        asking_again.confirm_ask_again,
        name="confirm_ask_again",
    ),
    path("keys/", sheet.keys, name="keys"),
    path("batches/<uuid:pk>/asked/", sheet.asked, name="asked"),
    path("batches/<uuid:pk>/timeline/", sheet.timeline, name="timeline"),
    path("batches/<uuid:pk>/rows/<int:number>/", sheet.row, name="row"),
    path(
        "batches/<uuid:pk>/rows/<int:number>/picture/",
        sheet_pictures.row_picture,
        name="row_picture",
    ),
    path("batches/<uuid:pk>/pictures/", asking_pictures.add, name="add_pictures"),
    path("batches/<uuid:pk>/pictures/choose/", asking_pictures.choose, name="choose_pictures"),
    path("batches/<uuid:pk>/pictures/remove/", asking_pictures.remove, name="remove_pictures"),
    path("batches/<uuid:pk>/rows/<int:number>/nearest/", likeness.nearest_rows, name="nearest"),
    path("batches/<uuid:pk>/rows/<int:number>/reply/", sheet.row_reply, name="row_reply"),
    path(
        "batches/<uuid:pk>/rows/<int:number>/answers/<int:at>/", editing.answer, name="edit_answer"
    ),
    path(
        "batches/<uuid:pk>/rows/<int:number>/own-answer/",
        editing.put_back,
        name="put_back_answer",
    ),
    path("batches/<uuid:pk>/stop/", pages.stop, name="stop"),
    path("batches/<uuid:pk>/stop/confirm/", deciding.confirm_stop, name="confirm_stop"),
    path("batches/<uuid:pk>/retry/", pages.retry, name="retry"),
    path("batches/<uuid:pk>/count-empty/", pages.count_empty, name="count_empty"),
    path("batches/<uuid:pk>/count-as-empty/", pages.count_as_empty, name="count_as_empty"),
    path("batches/<uuid:pk>/run-again/", pages.run_again, name="run_again"),
    path("batches/<uuid:pk>/ask-further/", pages.ask_further, name="ask_further"),
    path("batches/<uuid:pk>/delete/", deleted.delete, name="delete"),
    path("batches/<uuid:pk>/delete/confirm/", deleted.confirm_delete, name="confirm_delete"),
    path("batches/<uuid:pk>/try-now/", pages.try_now, name="try_now"),
    path("batches/<uuid:pk>/parts/", sheet.parts, name="parts"),
    path("batches/<uuid:pk>/parts/<int:number>/", sheet.part, name="part"),
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
