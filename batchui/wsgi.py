"""The WSGI application, served by granian."""

import os
import sys

from django.core.wsgi import get_wsgi_application

from batchui import checks
from batchui.worker import health

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "batchui.settings")

application = health.with_healthz(get_wsgi_application())

# A server that is started by hand has run no checks.
if errors := checks.in_sentences(checks.settings_are_right()):
    sys.stderr.write("\n".join(["batchui cannot start:", *errors, ""]))
    raise SystemExit(1)
health.announce_in_background("web")
