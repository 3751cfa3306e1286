"""Addresses of the tries of a draft."""

from django.urls import path

from batchui.web.trying import views

urlpatterns = [
    path("", views.begin, name="try"),
    path("live/", views.live, name="try_live"),
    path("<int:number>/stop/", views.stop, name="try_stop"),
    path("<int:number>/remove/", views.remove, name="try_remove"),
    path("<int:number>/use/", views.use, name="try_use"),
]
