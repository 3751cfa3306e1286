"""The environment that tests give to the processes they start."""

from batchui.bench import surroundings


def clean_environment(**variables: str) -> dict[str, str]:
    """This process's environment without anything of batchui's or the tests', plus `variables`.

    For processes that tests start: `manage.py` in them uses batchui's real settings.
    """
    kept = surroundings.clean_environment()
    kept.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)  # a browser of the tests set it
    # setproctitle, which comes with mutmut and which django-q uses where it is, would write over
    # the environment by which tests know a process.
    return kept | {"SPT_NOENV": "1"} | variables
