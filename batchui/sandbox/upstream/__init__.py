"""Real answers: the requests of an account are worked off by a server that speaks OpenAI's wire.

Ollama, the server of llama.cpp, vLLM, LM Studio and many others do. An account has such an
*upstream* if its name begins with `local-` and somebody has registered one for it, or if the
sandbox was started with one for all its other accounts (SANDBOX_UPSTREAM_URL and its like). The two
kinds never mix: nothing of a `local-` account is made up, and none goes to another's server.

    PUT  …/accounts/{account}/ai/upstream       register: {"url", "model", "key", "concurrency",
                                               "timeout_seconds"}; the last three may be left out
    POST …/accounts/{account}/ai/upstream/test  ask a server (the same fields) for its models and
                                               whether the key fits, which costs nothing

What is registered is in memory alone, with the key, which is never stored, logged or returned. So
after a restart each call for a `local-` account is refused, with a code of its own, until somebody
registers again; then its requests go on where they were.

Each item is one call. Its answer is stored as it comes, so that a killed sandbox asks nothing again
that it has an answer to (after a power cut, the last moment's answers may be asked again). As many
items as the upstream's `concurrency` are asked at once. Every other turn is the oldest request's,
so that requests finish one after another; the turns between go to the one that had the fewest.

An upstream that is away or busy (no connection, 429, 502, 503) is tried with one item, after a
second, then up to every 30 seconds, or when it said (`Retry-After`); its requests stay queued or
running. One that refuses the key is tried every minute, and polls say so meanwhile. After six hours
of either, what is left has failed. An item without a usable answer is asked three times, and then
fails alone, as does one that is refused.

A synchronous run takes its turn before the rows of requests, but never beside more calls than the
upstream takes at once; it does not wait for one that is away.

Modules, from the outside to the inside
    doors, asking_models, worked      the calls above, the models; submit, poll and run
    crews, crew, turns, pauses        who works for whom, what is next, and when
    outcomes                          what a call of the upstream came to
    questions, chat, results          an item as such a call, and its answer as the item's result
    http_calls                        one call over HTTP
    work_store                        items and answers on the disk
    settings                          address, model, key
"""
