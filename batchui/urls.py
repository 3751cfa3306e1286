"""All addresses."""

from django.urls import include, path

from batchui.web import urls, urls_people
from batchui.worker import health

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("connections/", include("batchui.web.connecting.urls")),
    path("", include(urls_people)),
    path("", include(urls)),
]

handler400 = "batchui.web.errors.bad_request"
handler403 = "batchui.web.errors.not_allowed"
handler404 = "batchui.web.errors.not_found"
handler500 = "batchui.web.errors.server_error"
# allauth looks for this one when somebody tries to sign in too often.
handler429 = "batchui.web.errors.too_many_requests"
