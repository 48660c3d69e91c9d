from __future__ import annotations

import pytest

import equipoise as eq


def test_other_servers_on_the_same_clients(one_upload: eq.RunHandle) -> None:
    fused = one_upload.fuse(predict=["energy-gate", "logit-ensemble"])
    assert fused.table()["predict"].to_list() == ["energy-gate", "logit-ensemble"]
    assert [run.value for run in fused] == fused.table()["merged"].to_list()
    assert len(fused) == 2
    best = max(fused.servers, key=lambda server: server["validation"])
    assert fused.best.id == best["run_id"]
    assert fused.best.config.server.predict == best["predict"]


def test_a_pair_that_was_fused_is_found_again(one_upload: eq.RunHandle) -> None:
    once, again = (eq.fuse(one_upload.id, predict="energy-gate", store=one_upload.store) for _ in range(2))
    assert once.runs == again.runs


def test_a_server_nobody_knows(one_upload: eq.RunHandle) -> None:
    with pytest.raises(eq.ConfigError, match="did you mean 'energy-gate'"):
        one_upload.fuse(predict="energy-gat")


def test_a_run_in_rounds_kept_no_clients(in_rounds: eq.RunHandle) -> None:
    with pytest.raises(eq.ConfigError, match="one-shot"):
        in_rounds.fuse(predict="energy-gate")
