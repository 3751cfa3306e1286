"""Finding rows in the sheet of a batch, and what its answers are at a glance.

    selection     which rows: of a status, for a reason, with a value, with words in them
    matching      whether a row of a part is one of them; fields: the values of answer columns
    sizes, pages  how many there are, one page of them, and which stands beside which
    reasons       why rows have no answer, in plain words, with the next step
    digesting, digests, spread    what the answers of each part come to, for counts and pictures
    asking_again  asks chosen rows once more

Only the parts of the page are opened: the counts of the parts, or their digests, tell which.
"""
