"""Makes scripts and stylesheets smaller, in a process of its own: this file is its program.

tdewolff's minifier brings the threads of Go into whatever process loads it, and processes of
batchui fork, which nobody should do who has other threads.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

MINIFIER = "minify"


def minified(kind: str, texts: Sequence[str]) -> Sequence[str]:
    """Each text without comments, white space and long names of variables.

    kind: their media type. As they are where the minifier is not made for the system: that is 4 kB
    more to a page. Raises CalledProcessError for what is no such text.
    """
    if find_spec(MINIFIER) is None:
        return texts
    done = subprocess.run(
        [sys.executable, "-P", __file__],
        input=json.dumps([kind, *texts]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: list[str] = json.loads(done.stdout)
    return found


def _minify_all() -> None:
    import minify

    kind, *texts = json.load(sys.stdin)
    json.dump([minify.string(kind, text) for text in texts], sys.stdout)


if __name__ == "__main__":
    _minify_all()
