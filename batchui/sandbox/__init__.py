"""A local Batch API that speaks the wire of Cloudflare Workers AI. No AI model runs here.

Its answers are made up, or come from a model server elsewhere (`upstream/` says how).

`manage.py sandbox` or `python -m batchui.sandbox --port 8787` serves
`http://127.0.0.1:8787/client/v4`: submit, poll, synchronous run, `ai/models/search` and
`ai/models/schema`, with the real envelopes and error codes. It accepts any account id, and only the
token it was started with (BATCHUI_SANDBOX_TOKEN). A request for another host name than 127.0.0.1,
localhost, [::1] or its own is refused (421), and so is one from a web page (an `Origin`: 403): a
page could give a name of its own to this machine's address. Requests are kept in an SQLite file and
survive a restart. The package imports no Django and nothing else of ours.

Where the real API is not documented, the sandbox decides. 5504 has HTTP status 404. A body above
10,000,000 bytes (the documented limit) is refused with 3006. A request id under another model or
account is not found. An item that its model cannot take fails the whole batch with 3030 when it is
polled; so does a body without `requests`. An item longer than the model's context fails alone.
Requests that are sent together finish one after another, so that somebody who tries batchui sees a
sheet fill. Answers are about the prompt and made up: one of the choices that it names, a number on
its scale, JSON for a schema; other texts begin with “[sandbox]”.

Modules, from the outside to the inside
    server, http_messages, options, context     sockets, requests and responses, shared objects
    wire, runs, listing, envelope, errors       which call it is, and the API's answer to it
    binding                                     the calls that the AI binding of a Worker makes
    control, calls, scripted_faults, fault_injection    what tests set and read
    store, schedule, replies                    a request, when it finishes, its finished reply
    items, models, changed_models, shapes       what a model takes, and the shapes of its results
    made_up_answers, texts, schemas             what is in them
    odd_answers                                 what scripted faults make of them
    worded_fields                               fields that are asked for in words
    upstream/                                   real answers, from a model server
    testing                                     a sandbox on a free port

Control address (the same server, with --control; callers on this machine only, the same token)
    GET    /control/script         the steps, each with `seen` and `used`
    PUT    /control/script         replace the script: a list of steps
    POST   /control/script         add a step or a list of steps at the end
    DELETE /control/script         back to normal
    GET    /control/calls          calls made so far: method, kind, model, request_id, items, bytes,
                                   time, status, fault; ?kind= selects one kind
    DELETE /control/calls          forget them
    GET    /control/models         the names of the models
    PUT    /control/models         list them otherwise: changes as in `changed_models.py` (gone,
                                   new, another price, a planned end)
    DELETE /control/models         back to normal
    GET    /control/timings        {"queued", "running", "per_1000_items", "longest", "apart"} in
                                   seconds, and "closer"
    PUT    /control/timings        change some or all of them, for requests submitted from now on;
                                   `apart` and `closer` become 0 unless they are given, so that the
                                   times are exact

Address for bindings (the same server, with --binding; callers on this machine only, no token, as a
binding sends none). Cloudflare's own module of the binding, in a Worker that workerd runs, can be
pointed at this server: `wrapped = (moduleName = "cloudflare-internal:ai-api", innerBindings =
[(name = "fetcher", service = …)])`. Every fault works here, too. Results have no envelope.
    POST   /run?version=3          {"inputs", "options"}, the model in `cf-consn-model-id`
    GET    /ai-api/models/search   env.AI.models()

A step
    fault        which fault (tables below); the only field that is required
    call         submit, poll, run, search, schema or any (any is the default)
    model        only calls for this model
    containing   only calls whose body has this text in it
    state        only polls of a request that is queued, running or finished
    nth          fires from the n-th matching call on (1)
    times        for how many calls (1; 0: for ever)
    seconds      how long to wait before the answer; with any fault of a call

Faults of a call: for each call, only the first step that fires is used.
    error          an error envelope: `code` (its usual HTTP status and message follow), `status`,
                   `message`, `retry_after` (header); without a code: a page of HTML
    delay          the usual answer, `seconds` later
    cut_before     nothing is done; the connection is closed without an answer (`reset`: by RST)
    cut_after      the call is done (a submission is stored), then cut in the same way
    garbage        done, but HTTP 200 (or `status`) comes with `body`, which is not JSON
    truncated      done, but the body ends half-way through the Content-Length announced
    other_status   done, but with another 2xx `status` (202)
    no_model       submit: acknowledged without `model`
    no_request_id  submit: acknowledged without `request_id`
    forgotten      submit: acknowledged, and not found (5504) ever after
    queued         poll: still queued, whatever the clock says
    running        poll: still running
    batch_failed   poll: HTTP 200, and the request failed as a whole. `form`: failed or error (its
                   `status`), errors (a failed one with a list of them), no_result and null_result
                   (an envelope of an error without a result, or with null), no_array (a reply
                   without its array), bare (an envelope of a success with nothing in it); `code`
                   (8008) and `message` of the errors

Faults of items, in polls that return the finished reply; all steps that fire are used. `items`:
positions in the array sent (the default is [0]). `every`: each n-th item instead (1: all). Those
marked * are also possible in a run.
    missing          not in the reply
    duplicate        in the reply twice, with the same answer
    contradiction    in the reply twice, with different answers
    unknown_id       with an id that was never sent
    wrong_reference  with another external_reference
    numbering        numbered in another way. `form`: text (the number as a text), both (`id`, a
                     text, and `index`), own (`id`, a text of its own), none (neither)
    failed           `"success": false` with an `error` (`form`: text or object)
    empty *          success with nothing in it (`form`: null, blank, list, object, empties, text,
                     result)
    unfit *          with something that nobody asked for (`form`: words, other, cut, fenced)
    cut_off *        cut off at the longest answer: half of its text, and finish_reason length, or
                     status incomplete; where the shape has neither, usage counts that many tokens
    tool_calls *     with the call of a tool in place of a text
    reasoning *      with reasoning, and null in place of a text. `form`: length (all the room went
                     into reasoning) or stop
"""
