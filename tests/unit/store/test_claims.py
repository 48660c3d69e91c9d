from __future__ import annotations

import time

from equipoise.store.claims import Claims
from equipoise.store.database import Store

from .conftest import Script

HOLDS = """
    from equipoise.store.claims import Claims
    from equipoise.store.database import open_store
    with open_store(LOCATION) as store, Claims(store) as claims:
        print(claims.take("a"), flush=True)
        sys.stdin.read()
"""


def test_what_one_has_taken_another_does_not_get(store: Store) -> None:
    with Claims(store) as ours, Claims(store) as theirs:
        assert ours.take("a")
        assert ours.take("a"), "what is ours stays ours"
        assert not theirs.take("a")
        assert theirs.take("b")
        assert (ours.taken, theirs.taken) == ({"a"}, {"b"})
        ours.release("a")
        assert theirs.take("a")


def test_claims_end_with_the_block(store: Store) -> None:
    with Claims(store) as ours:
        assert ours.take("a")
    with Claims(store) as theirs:
        assert theirs.take("a")


def test_a_killed_process_has_no_claims(store: Store, script: Script) -> None:
    process = script(HOLDS)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "True"
    with Claims(store) as ours:
        assert not ours.take("a")
        process.kill()
        process.wait()
        for _ in range(600):  # a server may need an instant to notice
            if ours.take("a"):
                break
            time.sleep(0.1)
        assert ours.take("a")
