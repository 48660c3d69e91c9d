"""The demo's three stories. Each file measures one part and puts its outcome into a sentence and a small table.

    one upload   skew: accuracy against α · policies: λ under one server · servers: on one set of clients
    healing      a policy that runs away, what the diagnosis says, the same runs healed
    killing      SIGKILL, resume, the same numbers

A sentence is made from the measured numbers, never written beforehand: where the outcome is another, it says so.
"""
