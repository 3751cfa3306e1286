"""Addresses of the page Connections."""

from django.urls import path

from batchui.web.connecting import connect, views

urlpatterns = [
    path("", views.connections, name="connections"),
    path("connect/<slug:word>/", connect.connect, name="connect"),
    path("<int:pk>/token/", connect.replace_token, name="replace_token"),
    path("<int:pk>/test/", views.test, name="test_connection"),
    path("<int:pk>/rename/", views.rename, name="rename_connection"),
    path("<int:pk>/queue/", views.set_queue, name="connection_queue"),
    path("<int:pk>/default/", views.make_default, name="default_connection"),
    path("<int:pk>/remove/", views.remove, name="remove_connection"),
]
