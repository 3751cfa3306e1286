"""htmx without what no page of ours uses: a fifth of it, on every page.

It is cut from the readable htmx of the package django-htmx, whose version is pinned, before that is
minified. What goes: attributes that evaluate scripts (`app.js` forbids them, and so does the
content security policy), extensions, copies of pages in the browser's storage (`historyCacheSize`
is 0), the trigger `revealed`, styles of its own, and functions for scripts that ours do not call.
The rest, but for what `_INSTEAD` says, is its own code. Who needs one of these takes it out of the
lists here.
"""

import re
from collections import Counter

# Names of `htmx` that no script of ours calls.
_NOT_CALLED = (
    *("onLoad", "on", "off", "find", "findAll", "closest", "remove", "addClass", "removeClass"),
    *("toggleClass", "takeClass", "swap", "defineExtension", "removeExtension", "logAll"),
    *("logNone", "parseInterval", "_"),
)

# Function -> what it does instead.
_INSTEAD = {
    # Nothing is kept: the page of an address to which somebody goes back is loaded.
    "restoreHistory": "saveCurrentPageToHistory()\n    htmx.location.reload()",
    "saveCurrentPageToHistory": (
        "if (htmx.config.historyEnabled) "
        "history.replaceState({ htmx: true }, getDocument().title, location.href)"
    ),
    # Conditions of triggers, `[…]`, are scripts.
    "maybeFilterEvent": "return false",
    "maybeReveal": "",
    "initScrollHandler": "",
    # There are no extensions.
    "isInlineSwap": "return swapStyle === 'outerHTML'",
    "encodeParamsForBody": (
        "return usesFormData(elt)\n"
        "      ? overrideFormData(new FormData(), formDataFromObject(filteredParameters))\n"
        "      : urlEncode(filteredParameters)"
    ),
    "getExpressionVars": "return getHXValsForElement(elt, event)",
    # What stands in `hx-vals` and `hx-headers` is JSON. It is added to `values` itself.
    "getValuesForElement": (
        "values = values || {}\n"
        "    if (elt == null) return values\n"
        "    const found = parseJSON(getAttributeValue(elt, attr) || '{}')\n"
        "    for (const key in found) if (values[key] == null) values[key] = found[key]\n"
        "    return getValuesForElement(asElement(parentElt(elt)), attr, evalAsDefault, values)"
    ),
}

# Patterns of what is left out besides: what calls those functions, or is only for them.
_LEFT_OUT = (
    r"    insertIndicatorStyles\(\)\n",
    r"    forEach\(findHxOnWildcardElements\(elt\), processHxOnWildcard\)\n",
    r"    deInitOnHandlers\(element\)\n",
    r"  const HX_ON_QUERY = new XPathEvaluator\(\)\n(?:    [^\n]*\n)+",
    r"          var eventFilter = maybeGenerateConditional[^\n]*\n          if .*?\n          \}\n",
    r"  let windowIsScrolling = [^\n]*\n  let scrollHandler = null\n",
    r"^ *setCurrentPathForHistory\([^\n]*\)\n",
    r"  let currentPathForHistory\n",
    r"  const internalAPI = \{\n.*?\n  \}\n",
    r"  const extensions = \{\}\n",
    r"    withExtensions\(asElement\(elt\), .*?\n    \}\)\n",
    r"      withExtensions\(elt, function\(extension\) \{\n        server.*?\n      \}\)\n",
    r"        var extensions = getExtensions\(elt\)\n.*?\n        \}\n(?=        if)",
    r"      const extensionSelectors = \[\]\n.*?\n      \}\n(?=\n)",
    r" \+ extensionSelectors\.flat\(\).*?\.join\(''\)",
    r"    if \(htmx\.logger && .*?\n    \}\n",
    # Values as an object that keeps a FormData up to date: now it is the FormData itself.
    r"(?<=: )formDataProxy(?=\()",
)
_FUNCTION = r"^  function (?P<name>{name})\((?P<takes>[^\n]*)\) \{{\n.*?^  \}}\n"
_ANY_FUNCTION = re.compile(_FUNCTION.format(name=r"\w+"), re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"\w+")
# One on lines of its own: in others, what looks like one may be a part of a string.
_COMMENT = re.compile(r"^ *(?:/\*.*?\*/|//[^\n]*)\n", re.DOTALL | re.MULTILINE)


def lean(text: str) -> str:
    """The script without what is in the lists of this module, and without what only that used.

    Raises ValueError where something in the lists is not there: htmx has changed.
    """
    text = _COMMENT.sub("", text)
    for name in _NOT_CALLED:
        text = _changed(rf"^    {name}: null,\n", "", text)
        text = _changed(rf"^  htmx\.{name} = \w+\n", "", text)
    for name, body in _INSTEAD.items():
        instead = rf"  function {name}(\g<takes>) {{\n    {body}\n  }}\n"
        text = _changed(_FUNCTION.format(name=name), instead, text)
    for pattern in _LEFT_OUT:
        text = _changed(pattern, "", text)
    return _without_unused(text)


def _changed(pattern: str, instead: str, text: str) -> str:
    changed, times = re.subn(pattern, instead, text, flags=re.DOTALL | re.MULTILINE)
    if not times:
        raise ValueError(f"htmx has changed: there is no {pattern!r} in it.")
    return changed


def _without_unused(text: str) -> str:
    """The script without functions that nothing else names, until there is none."""
    named = Counter(_WORD.findall(text))
    unused = [
        found
        for found in _ANY_FUNCTION.finditer(text)
        if named[found["name"]] == _WORD.findall(found[0]).count(found["name"])
    ]
    for found in reversed(unused):
        text = text[: found.start()] + text[found.end() :]
    return _without_unused(text) if unused else text
