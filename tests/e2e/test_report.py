"""The report as its readers get it: one file, opened from disk in a browser that has no network."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from functools import cache
from html import unescape
from pathlib import Path

import polars as pl
import pytest

from equipoise.report.words import report_words
from tests.commands import PATIENCE, run_here
from tests.e2e.conftest import TINY, Equipoise, asked

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--virtual-time-budget=60000",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two λ policies over two seeds, one recommender, and one run that failed."""
    place = tmp_path_factory.mktemp("report")
    for arguments in (
        ["sweep", "etf-align", "balance=v10,v9", "data.limit=300", "client.epochs=10", "checkpoints=5", "--seeds", "2"],
        ["run", "rec/feddmmr", "rounds=4", "evaluate.every=2", "data.users=60"],
        ["run", "fedavg", *TINY, "rounds=3", "client.lr=1e6"],
    ):
        done = run_here(place, *arguments)
        assert done.code in {0, 1}, done.err
    return place


def ask(folder: Path, *arguments: str, code: int = 0) -> str:
    done = asked(folder)(*arguments, code=code)
    return done.out + done.err


def specs(page: str) -> list[dict[str, object]]:
    found = re.findall(r'<script type="application/json">(.*?)</script>', page, flags=re.DOTALL)
    return [json.loads(text) for text in found]


@cache
def written(folder: Path, *arguments: str) -> str:
    ask(folder, "report", *arguments, "-o", "report.html")
    return (folder / "report.html").read_text(encoding="utf-8")


def test_results_and_their_pictures_stood_below_the_findings(folder: Path) -> None:
    for runs, last, picture in ((["--sweep", "etf-align"], "runs", "overview"), (["rec"], "details", "ranking")):
        page = written(folder, *runs)
        places = [page.index(f'id="{part}"') for part in ("verdict", "results", "findings", "protocol", last)]
        assert places == sorted(places)
        above = re.findall(r'data-key="([^"]+)"', page[: places[2]])
        assert len(above) == 3
        assert picture in above
        assert [page.count(f'data-key="{key}"') for key in above] == [1, 1, 1], "not shown twice"
        assert page.index('class="quote"') < page.index("<table")


def test_a_report_starts_with_a_sentence_to_quote(folder: Path) -> None:
    for language, end in (("en", r"first starved-branch\."), ("zh", "首先是 starved-branch。")):
        page = written(folder, "rec", "--lang", language)
        (quote,) = re.findall(r'<p class="quote">(.*?)</p>', page)
        assert re.fullmatch(rf"feddmmr.*planted.*60.*hr@10/full \d+\.\d\d %.* kB.*{end}", quote)


def test_a_sweep_compares_methods_and_does_not_repeat_its_runs(folder: Path) -> None:
    page = written(folder, "--sweep", "etf-align")
    keys = re.findall(r'data-key="([^"]+)"', page)
    assert keys == ["overview", "client-spread", "overview-lam"]
    assert "No critical-difference diagram: 2 methods share a metric" in page
    runs = [run["run_id"] for run in json.loads(ask(folder, "ls", "--sweep", "etf-align", "--json"))]
    assert len(runs) == 4
    for run in runs:
        assert f"<code>equipoise report {run} -o {run}.html</code>" in page


def test_runs_of_one_sweep_are_a_report_of_that_sweep(folder: Path) -> None:
    runs = [run["run_id"] for run in json.loads(ask(folder, "ls", "--sweep", "etf-align", "--json"))]
    is_compared = ['id="runs"' in written(folder, *each) for each in (runs, runs[:1], [runs[0], "rec"])]
    assert is_compared == [True, False, False]


def test_a_comparison_has_results_findings_and_pictures_with_data(folder: Path) -> None:
    page = written(folder, "--sweep", "etf-align")
    assert "<code>lr-cut</code>" in page
    found = re.findall(r"src=|href=(?!\"#)|url\(|@import", page[: page.index("</main>")])
    assert not found, "nothing is loaded, and links stay on the page"
    assert len(page) < 3_000_000
    drawn = specs(page)
    assert all(rows for spec in drawn for rows in spec["datasets"].values())  # type: ignore[attr-defined]


def test_chinese_is_complete(folder: Path) -> None:
    page = written(folder, "latest", "rec", "--sweep", "etf-align", "--lang", "zh")
    body = page[page.index("<main>") : page.index("</main>")]
    sentences = [text for text in report_words("en").values() if " " in text.strip() and "{" not in text]
    assert len(sentences) > 50
    assert [text for text in sentences if text in body] == []
    assert '<html lang="zh">' in page


def test_a_recommender_has_both_protocols_beside_whoever_only_counts(folder: Path) -> None:
    page = written(folder, "rec")
    head = "".join(f'<th scope="col">{name}</th>' for name in ("test", "value", "95 %", "Markov", "ItemPop", "chance"))
    assert head in page
    assert "<td>hr@10/uni100</td>" in page
    assert re.search(r"<p>hr@10/full: (above|below|level with) Markov, ", page)


def test_the_protocol_has_a_command_that_runs_it_again_to_the_same_numbers(folder: Path, equipoise: Equipoise) -> None:
    page = written(folder, "rec")
    card = page[page.index('id="protocol"') : page.index('id="details"')]
    for name in ("λ policy", "guard", "learning rate", "date", "duration, per run", "random seeds"):
        assert f">{name}</th>" in card
    commands = re.findall(r"<code>(equipoise .*?)</code>", card)
    assert len(commands) == 1
    first = json.loads(ask(folder, "show", "rec", "--json"))
    again = equipoise(*shlex.split(unescape(commands[0]))[1:], "--json").json
    assert again["metrics"] == first["metrics"]
    assert {**again["config"], "name": ""} == {**first["config"], "name": ""}


def test_a_single_run_had_an_empty_column_of_differences(folder: Path) -> None:
    assert "Δ" not in written(folder, "rec")
    assert "Δ" in written(folder, "--sweep", "etf-align")


def test_a_row_has_the_colour_of_its_line(folder: Path) -> None:
    page = written(folder, "--sweep", "etf-align")
    rows = re.findall(r'style="color:(#\w+)">■</span>&nbsp;([^<]+)</div>', page)
    lines = next(spec for spec in specs(page) if "balance=v9" in str(spec))
    scale = lines["layer"][-1]["encoding"]["color"]["scale"]  # type: ignore[index]
    assert dict(zip(scale["range"], scale["domain"], strict=True)) == dict(rows)


def test_a_run_that_failed_has_a_report_that_says_why(folder: Path) -> None:
    page = written(folder, "latest")
    assert "<code>non-finite</code>" in page
    assert "failed" in page


def test_markdown_has_the_same_findings_as_tables(folder: Path) -> None:
    ask(folder, "report", "--sweep", "etf-align", "-o", "report.md")
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "lr-cut" in text
    assert "| checkpoint | balance=v10 | balance=v9 |" in text
    assert "| **5** |" in text
    assert re.search(r"\| warning lr-cut \| 2 / 2 \| (–|\d / 2) \|", text)
    assert re.search(
        r"\| balance=v10 \| 0 \| (\S+) \| done \| \d+\.\d\d % \| `equipoise report \1 -o \1.html` \|", text
    )
    assert re.search(r"^\| balance=v9 \| 10 \|", text, flags=re.MULTILINE), "five clients, two seeds, in one box"
    ask(folder, "report", "rec", "--format", "md", "--lang", "zh", "-o", "rec.txt")
    text = (folder / "rec.txt").read_text(encoding="utf-8")
    assert "## 发现的问题" in text
    assert "| 测试 | 数值 | 95 % | 马尔可夫 | 热门榜 | 随机 |" in text
    assert "\n| hr@10/uni100 | 0." in text
    assert re.search(r"hr@10/full：\S+马尔可夫表", text)


def test_figures_results_and_numbers_as_files(folder: Path) -> None:
    for form, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        ask(folder, "export", "rec", "--to", form, "-o", "out")
        files = sorted((folder / "out").glob(f"rec-*/*.{form}"))
        assert {"ranking", "losses", "router", "memory", "groups"} <= {path.stem for path in files}
        assert all(path.read_bytes().startswith(start) for path in files)
    ask(folder, "export", "--sweep", "etf-align", "--to", "latex", "-o", "out")
    assert r"\toprule" in (folder / "out" / "results.tex").read_text(encoding="utf-8")


def test_exported_numbers_are_diagnosed_like_the_run(folder: Path) -> None:
    ask(folder, "export", "--sweep", "etf-align", "--to", "parquet", "-o", "out")
    table = pl.read_parquet(folder / "out" / "metrics.parquet")
    assert table.columns == ["run", "step", "round", "client", "name", "value"]
    runs = json.loads((folder / "out" / "runs.json").read_text(encoding="utf-8"))
    assert {run["run_id"] for run in runs} == set(table["run"].unique())
    assert "host" not in json.dumps(runs)
    told = json.loads(ask(folder, "diagnose", "out/metrics.parquet", "--set", "classes=10", "--json"))
    own = json.loads(ask(folder, "diagnose", *(each["run"] for each in told), "--json"))
    assert len(told) == 4
    for theirs, ours in zip(told, own, strict=True):
        assert {"lr-cut"} & {each["code"] for each in theirs["findings"]} == {"lr-cut"} & {
            each["code"] for each in ours["findings"]
        }


def test_wrong_requests_are_named(folder: Path) -> None:
    (folder / "a-file").write_text("")
    for arguments, words in (
        (["report", "nobody"], "there is no run 'nobody'"),
        (["report"], "no run was named"),
        (["report", "latest", "-o", "a-file/report.html"], "cannot write"),
        (["export", "latest", "--to", "parquet", "-o", "a-file"], "cannot write"),
        (["export", "latest", "--to", "gif"], "gif"),
    ):
        assert words in ask(folder, *arguments, code=2)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine; scripts/get-chromium installs it")
@pytest.mark.parametrize(("language", "width"), [("en", 1280), pytest.param("zh", 390, marks=pytest.mark.slow)])
def test_the_page_opens_offline_draws_everything_and_complains_of_nothing(
    folder: Path, language: str, width: int
) -> None:
    page = written(folder, "rec", "--sweep", "etf-align", "--lang", language)
    n_figures = len(specs(page))
    assert CHROMIUM is not None
    profile = folder / f"profile-{language}"
    file = folder / f"{language}.html"
    file.write_text(page, encoding="utf-8")
    address = file.as_uri()
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--window-size={width},900", f"--user-data-dir={profile}", "--dump-dom", address],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    dom = done.stdout
    assert f'data-drawn="{n_figures}"' in dom
    assert 'data-errors=""' in dom
    assert "CONSOLE" not in done.stderr, [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    figures = re.findall(r'<figure data-key="([^"]+)"[^>]*>(.*?)</figure>', dom, flags=re.DOTALL)
    assert len(figures) == n_figures
    empty = [key for key, body in figures if not re.search(r'aria-roledescription="[a-z ]*mark"|class="mark-', body)]
    assert empty == [], "figures without a mark"
    assert "lr-cut" in dom[dom.index('id="verdict"') : dom.index('id="protocol"')]
    results = dom[dom.index('id="results"') : dom.index('id="findings"')]
    assert ("is-wide" in results.split("<figure")[0]) == (width == 390), "a table that scrolls on a phone says so"
    if width > 1024:
        require_no_holes(dom)


def require_no_holes(dom: str) -> None:
    """Of the figures between two headings an odd one is wide, and those of a row are equally high."""
    for group in dom.split('<div class="figures">')[1:]:
        found = re.findall(r"<figure([^>]*)>.*?<svg[^>]* height=\"(\d+)", group, flags=re.DOTALL)
        wide = ["is-wide" in attributes for attributes, _ in found]
        heights = [height for _, height in found]
        assert wide == [True] * (len(found) % 2) + [False] * (len(found) // 2 * 2)
        pairs = heights[len(found) % 2 :]
        assert pairs[::2] == pairs[1::2]
