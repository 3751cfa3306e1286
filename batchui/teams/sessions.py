"""The sessions of a person: one for each browser in which they are signed in."""

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone

from batchui import security_log
from batchui.teams.models import User


def end_others(person: User, *, keep: str | None) -> int:
    """End a person's sessions but the one with the key `keep`. Returns how many were ended."""
    others = [
        session.session_key
        for session in Session.objects.filter(expire_date__gt=timezone.now()).exclude(pk=keep)
        if session.get_decoded().get(SESSION_KEY) == str(person.pk)
    ]
    Session.objects.filter(pk__in=others).delete()
    if others:
        security_log.record("signed out elsewhere", who=person.in_log, browsers=len(others))
    return len(others)
