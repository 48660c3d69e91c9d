from __future__ import annotations

from equipoise.bench import fuse


def test_six_servers_of_one_training_each_time_anew(monkeypatch):
    small = ("data=synthetic", "data.train=60", "data.test=20", "model=cnn", "model.width=4", "client.epochs=1")
    fused, really = [], fuse.fuse

    def noted(store, run, servers):
        fused.append(really(store, run, servers))
        return fused[-1]

    monkeypatch.setattr(fuse, "SETTINGS", (*small, "checkpoints=1", "evaluate.beside=never"))
    monkeypatch.setattr(fuse, "fuse", noted)
    (result,) = fuse.run(2)
    assert (result.name, str(result.goal)) == ("fuse", "≤ 0.1")
    assert len(set(fused[0])) == len(set(fused[1])) == 6
    assert not set(fused[0]) & set(fused[1])  # nothing was found that had been fused before
