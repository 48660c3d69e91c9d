"""Downloads from a real server on this machine, with the ways a real one misbehaves."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from equipoise.core.errors import DataError, UnknownName
from equipoise.data import fetch as room
from equipoise.data.fetch import fetch, terms_of
from equipoise.data.known import Download, KnownImages

CONTENT = bytes(range(256)) * 4000
MD5 = hashlib.md5(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves `content`; `faults` are taken one per request, then it behaves."""

    content = CONTENT
    faults: list[str]
    asked: list[str | None]

    def do_GET(self) -> None:
        self.asked.append(self.headers.get("Range"))
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "404":
            self.send_error(404)
            return
        start = 0
        given = self.headers.get("Range")
        if given and fault != "ignores-range":
            start = int(given.removeprefix("bytes=").rstrip("-"))
        if start and start >= len(self.content):
            self.send_error(416)
            return
        self.answer(start, fault)

    def answer(self, start: int, fault: str) -> None:
        self.send_response(206 if start else 200)
        if start:
            told = 0 if fault == "wrong-range" else start
            self.send_header("Content-Range", f"bytes {told}-{len(self.content) - 1}/{len(self.content)}")
        if fault != "no-length":
            self.send_header("Content-Length", str(len(self.content) - start))
        self.end_headers()
        body = self.content[start:]
        self.wfile.write(body[: len(body) // 2] if fault == "drops" else body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def handler() -> type[Handler]:
    return type("OneTest", (Handler,), {"faults": [], "asked": []})


@pytest.fixture
def mirror(handler) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/files/"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def known(monkeypatch) -> None:
    """One small file in place of the published archive."""
    item = Download("http://example.invalid/cifar-10-binary.tar.gz", MD5, "inside")
    monkeypatch.setattr(room, "KNOWN", room.KNOWN | {"cifar10": KnownImages(10, (3, 32, 32), 1, 1, downloads=(item,))})


@pytest.fixture
def target(folder) -> Path:
    return folder / "inside" / "cifar-10-binary.tar.gz"


@pytest.fixture
def part(target) -> Path:
    target.parent.mkdir()
    return target.with_name(f"{target.name}.part")


def test_fetched_verified_and_reported(folder, target, mirror):
    told: list[tuple[str, int, int | None]] = []
    [file] = fetch("cifar10", folder, lambda *progress: told.append(progress), mirror)
    assert (file.path, file.n_bytes, file.is_new) == (target, len(CONTENT), True)
    assert target.read_bytes() == CONTENT
    assert list(target.parent.iterdir()) == [target]
    assert told[-1] == (target.name, len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_a_good_file_is_not_fetched_again(folder, mirror, handler):
    fetch("cifar10", folder, mirror=mirror)
    [file] = fetch("cifar10", folder, mirror=mirror)
    assert not file.is_new
    assert len(handler.asked) == 1


def test_a_damaged_file_is_replaced(folder, part, target, mirror):
    target.write_bytes(b"damaged")
    [file] = fetch("cifar10", folder, mirror=mirror)
    assert file.is_new
    assert target.read_bytes() == CONTENT


def test_a_part_is_continued(folder, part, target, mirror, handler):
    part.write_bytes(CONTENT[:1000])
    fetch("cifar10", folder, mirror=mirror)
    assert handler.asked == ["bytes=1000-"]
    assert target.read_bytes() == CONTENT
    assert not part.exists()


def test_a_server_that_ignores_the_range_starts_again(folder, part, target, mirror, handler):
    part.write_bytes(b"x" * 1000)
    handler.faults += ["ignores-range"]
    fetch("cifar10", folder, mirror=mirror)
    assert target.read_bytes() == CONTENT


def test_a_server_that_sends_another_range_starts_again(folder, part, target, mirror, handler):
    part.write_bytes(CONTENT[:1000])
    handler.faults += ["wrong-range"]
    fetch("cifar10", folder, mirror=mirror)
    assert handler.asked == ["bytes=1000-", None]
    assert target.read_bytes() == CONTENT


def test_a_whole_part_only_needs_its_checksum(folder, part, target, mirror):
    part.write_bytes(CONTENT)
    fetch("cifar10", folder, mirror=mirror)
    assert target.read_bytes() == CONTENT


def test_a_dropped_connection_is_taken_up_again(folder, target, mirror, handler):
    handler.faults += ["drops"]
    fetch("cifar10", folder, mirror=mirror)
    assert handler.asked == [None, f"bytes={len(CONTENT) // 2}-"]
    assert target.read_bytes() == CONTENT


def test_a_connection_that_always_drops_keeps_its_part_for_the_next_time(folder, target, mirror, handler):
    handler.faults += ["drops"] * 3
    with pytest.raises(DataError, match="broke off 3 times") as caught:
        fetch("cifar10", folder, mirror=mirror)
    have = len(CONTENT) // 2 + len(CONTENT) // 4 + len(CONTENT) // 8
    assert f"with {have} bytes there: expected {len(CONTENT)} bytes, found {have}" in caught.value.what
    assert "again" in caught.value.fix
    assert not target.exists()
    fetch("cifar10", folder, mirror=mirror)
    assert target.read_bytes() == CONTENT


def test_a_server_that_does_not_say_the_length(folder, target, mirror, handler):
    handler.faults += ["no-length"]
    told: list[int | None] = []
    fetch("cifar10", folder, lambda name, done, total: told.append(total), mirror)
    assert set(told) == {None}
    assert target.read_bytes() == CONTENT


def test_wrong_bytes_are_deleted(folder, target, mirror, handler):
    handler.content = CONTENT[:-1] + b"!"
    with pytest.raises(DataError, match=f"wrong checksum: expected md5 {MD5}") as caught:
        fetch("cifar10", folder, mirror=mirror)
    assert str(len(CONTENT)) in caught.value.what
    assert caught.value.exit_code == 2
    assert list(target.parent.iterdir()) == []


def test_a_part_of_something_else_is_deleted(folder, part, mirror):
    part.write_bytes(b"x" * len(CONTENT))
    with pytest.raises(DataError, match="wrong checksum"):
        fetch("cifar10", folder, mirror=mirror)
    assert not part.exists()


def test_not_there(folder, mirror, handler):
    handler.faults += ["404"]
    with pytest.raises(DataError, match="the server answered 404") as caught:
        fetch("cifar10", folder, mirror=mirror)
    assert caught.value.where.startswith(mirror)
    assert "EQUIPOISE_MIRROR" in caught.value.fix


def test_nobody_answers(folder):
    with pytest.raises(DataError, match=r"broke off 3 times, with 0 bytes there: .*refused"):
        fetch("cifar10", folder, mirror="http://127.0.0.1:9")


@pytest.mark.parametrize("mirror", ["file:///etc", "no address"])
def test_only_http(folder, mirror):
    with pytest.raises(DataError, match=r"not an http address|unknown url type"):
        fetch("cifar10", folder, mirror=mirror)


def test_a_folder_that_cannot_be_written(tmp_path, mirror):
    (tmp_path / "a-file").touch()
    with pytest.raises(DataError, match="cannot write"):
        fetch("cifar10", tmp_path / "a-file", mirror=mirror)


def test_the_mirror_may_come_from_the_environment(folder, target, mirror, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_MIRROR", mirror)
    monkeypatch.setenv("EQUIPOISE_DATA", str(folder))
    fetch("cifar10", None)
    assert target.read_bytes() == CONTENT


def test_no_folder_unknown_name_and_nothing_to_fetch(folder):
    with pytest.raises(DataError, match="no folder to put 'cifar10' into"):
        fetch("cifar10", None)
    with pytest.raises(UnknownName):
        fetch("imagenet-22k", folder)
    assert fetch("digits", None) == []


def test_what_was_fetched_is_found_by_the_reader(folder, mirror, handler, monkeypatch, rng):
    """Fashion-MNIST goes where torchvision puts it, and the reader looks there."""
    from equipoise.config.blocks import ImageOptions
    from equipoise.data.fashion_mnist import IDX, fashion_mnist

    from .writers import idx, random_images

    images = random_images(rng, 4, 10, (1, 28, 28))
    contents = [gzip.compress(idx(array)) for array in (images.pixels[:, 0], images.labels.astype("uint8"))] * 2
    by_name = {f"{name}.gz": content for name, content in zip(IDX, contents, strict=True)}
    handler.do_GET = lambda self: (setattr(self, "content", by_name[self.path.rsplit("/", 1)[1]]), self.answer(0, ""))
    folders = {item.name: item.folder for item in room.KNOWN["fashion-mnist"].downloads}
    downloads = tuple(
        Download(f"http://example.invalid/{name}", hashlib.md5(content).hexdigest(), folders[name])
        for name, content in by_name.items()
    )
    monkeypatch.setattr(
        room, "KNOWN", room.KNOWN | {"fashion-mnist": KnownImages(10, (1, 28, 28), 4, 4, downloads=downloads)}
    )
    assert len(fetch("fashion-mnist", folder, mirror=mirror)) == 4
    assert fashion_mnist(ImageOptions(), folder).train.labels.tolist() == images.labels.tolist()


def test_a_fetched_movielens_archive_is_found_by_the_reader(folder, mirror, handler, monkeypatch):
    import io
    import zipfile

    from equipoise.config.blocks import InteractionOptions
    from equipoise.data.known import KnownInteractions
    from equipoise.data.movielens import movielens_1m

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("ml-1m/ratings.dat", b"1::5::3::10\n1::6::3::11\n1::7::3::12\n")
    handler.content = stream.getvalue()
    (published,) = room.KNOWN["movielens-1m"].downloads
    assert published.address == "https://files.grouplens.org/datasets/movielens/ml-1m.zip"
    item = Download(published.address, hashlib.md5(handler.content).hexdigest())
    known = KnownInteractions(1, 3, 3, downloads=(item,))
    monkeypatch.setattr(room, "KNOWN", room.KNOWN | {"movielens-1m": known})
    [file] = fetch("ml-1m", folder, mirror=mirror)
    assert file.path == folder / "ml-1m.zip"
    assert movielens_1m(InteractionOptions(), folder).item_ids.tolist() == [5, 6, 7]


def test_terms_of_those_who_ask_for_something():
    assert "do not redistribute it" in terms_of("ml-100k")
    assert terms_of("digits") == ""


@pytest.mark.parametrize("name", ["folder", "npz", "table"])
def test_own_data_has_nothing_to_fetch(name, folder):
    assert fetch(name, folder) == []
    assert terms_of(name) == ""
