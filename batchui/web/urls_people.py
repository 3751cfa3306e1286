"""Addresses of the pages about people.

Only three of allauth's pages are used: people join by invitation, and an administrator makes a
password link for somebody who forgot the password.
"""

from allauth.account.views import account_inactive, logout
from django.urls import path
from django.views.decorators.cache import never_cache

from batchui.web import people, sign_in

urlpatterns = [
    path("setup/<str:token>/", sign_in.use_link, name="setup"),
    path("join/<str:token>/", sign_in.use_link, name="join"),
    path("people/", people.people, name="people"),
    path("people/invite/", people.invite, name="people_invite"),
    path("people/spending/", people.spending, name="people_spending"),
    path("people/<int:pk>/role/", people.change_role, name="people_change_role"),
    path("people/<int:pk>/password-link/", people.password_link, name="people_password_link"),
    path("people/<int:pk>/remove/", people.remove, name="people_remove"),
    path("people/links/<int:pk>/withdraw/", people.withdraw, name="people_withdraw"),
    path("account/", sign_in.account, name="account"),
    path("account/password/", sign_in.change_password, name="account_change_password"),
    path("account/sign-out-elsewhere/", sign_in.sign_out_elsewhere, name="sign_out_elsewhere"),
    path("sign-in/", sign_in.SignInView.as_view(), name="account_login"),
    path("sign-out/", never_cache(logout), name="account_logout"),
    path("sign-in/removed/", account_inactive, name="account_inactive"),
]
