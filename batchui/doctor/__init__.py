"""What must always be true of batches, as code: one function for each invariant.

`manage.py doctor` checks them on live data; `manage.py chaos` checks them after its kills. They
read the database, the stored files and the downloads, one part at a time, and change nothing.

    rows.py      1. each row of an accepted file has one fate, and the fates agree
    answers.py   2. an answer belongs to its row, and a good one stays
    requests.py  3. every request that was billed has an attempt that says so, or says unsure
                 4. a part that was billed twice carries a visible flag
                 5. a receipt is never lost and never changes
    history.py   6. what is done reopens only by a recorded Retry
                 9. every status is explained by events
    motion.py    7. nothing stays in motion beyond its lease by more than a minute
    disk.py      8. every stored file is pointed to, or was written or overtaken within a day
                 10. no secret is in plain text on the disk

    findings.py  what a check finds       records.py  a batch as it was at one moment
    ledger.py    what the API accepted    examine.py  all checks, twice
"""
