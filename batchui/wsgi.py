"""The WSGI application, as a web server imports it."""

import gc
import os
import sys

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.umask(0o077)  # what is stored is for this user alone
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "batchui.settings")
django_application = get_wsgi_application()

# These import models, so Django has to be set up before.
from batchui import checks, data_folder  # noqa: E402
from batchui.worker import health, this_host  # noqa: E402

application = health.with_healthz(django_application)

# If the server is started by hand, no checks have run before.
if errors := checks.in_sentences(checks.settings_are_right()):
    sys.stderr.write("\n".join(["batchui cannot start:", *errors, ""]))
    raise SystemExit(1)
try:
    data_folder.make()
except data_folder.DataFolderProblem as problem:
    sys.stderr.write(f"batchui cannot start: {problem}\n")
    raise SystemExit(1) from None
this_host.look_after_in_background()

# What is here now stays until the end. Looked through for garbage, it would now and then make a
# page wait for 40 ms.
get_resolver().url_patterns  # noqa: B018  imports all pages
gc.collect()
gc.freeze()
