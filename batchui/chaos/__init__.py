"""Kills the product at random, again and again, and then checks what must always be true.

`manage.py chaos --kills N --seed S` kills real processes; with `--inside` it kills the steps
themselves, in child processes, thousands of times. With `--worker` batches go through the Worker on
Cloudflare's runtime. All run in a data folder that is thrown away, and replay from their seed: the
same decisions in the same order, though real time differs.

    surroundings.py  folder, database, environment   api.py, wire.py   the sandbox, and its script
    binding.py       the Worker, between both
    draws.py         files, faults and decisions, drawn from a seed
    triggers.py      how a child process dies         actors.py         what it does until then
    inside.py        the campaign inside              outside.py        the campaign with processes
    sheet_moves.py   of these, what people do in the sheet
    forms.py         what its forms send over HTTP
    points.py        named points in real processes   services.py       those processes
    presses.py       what people press over HTTP      passing.py        time that passes at once
    rest.py          how it ends: in ten minutes      verdict.py        what is true at the end
    figures.py       the table that is printed
"""
