"""Mutation tests: does some test fail when the code is changed?

    python -m tests.mutation                     50 mutants of 12 files; the seed is the commit
    python -m tests.mutation --sample 30 --seed 7
    python -m tests.mutation --only 'batchui.batches.due.*'
    python -m tests.mutation --since main --sample 200
    python -m tests.mutation --all               every mutant; two hours on two cores
    python -m tests.mutation --all --keep        the same, going on with the last run

mutmut changes one place of a function at a time. A mutant dies when a test fails or when mypy finds
an error; one that survives needs a test, or a reason in `accepted.toml`. Controls, which change
nothing, must survive: a kill would show that tests fail by themselves. A sample passes with one
survivor in five that has neither, and tries each mutant for 12 seconds, with the tests that are
nearest to it; every other run passes with none, and tries all. Process code is left out (the
watchdog, commands), since programs that tests start cannot load the mutants.
"""
