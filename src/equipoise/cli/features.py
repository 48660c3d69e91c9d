"""`equipoise features`: item features from text and images."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.options import Json, print_json

if TYPE_CHECKING:
    from equipoise.features.encode import Encoded, EncodingJob, Progress
    from equipoise.features.encoders import Encoder
    from equipoise.features.items import Items

app = typer.Typer(
    name="features",
    no_args_is_help=True,
    help="Item features from text and images, as a table that data.text and data.visual read. "
    "An interrupted command continues when it is given again.",
)

Out = Annotated[Path, typer.Option("--out", "-o", help="The npz file to write.", show_default=False)]
Batch = Annotated[int, typer.Option("--batch", min=1, help="Items encoded at once.")]
Half = Annotated[bool, typer.Option("--half", help="Store float16: half the size, three digits.")]
OnDevice = Annotated[str, typer.Option("--device", help="Where to encode: auto, cpu, cuda, cuda:1, mps.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output if it is there.")]


@app.command()
def text(
    table: Annotated[Path, typer.Argument(help="CSV, TSV or Parquet, one line per item.", show_default=False)],
    encoder: Annotated[
        str, typer.Option("--encoder", help="A sentence-transformers model: name or folder.", show_default=False)
    ],
    out: Out,
    item: Annotated[str, typer.Option("--id", help="Column of item ids.")] = "item_id",
    column: Annotated[
        list[str] | None, typer.Option("--column", help="Column of text; may be given several times.")
    ] = None,
    template: Annotated[
        str | None, typer.Option("--format", help="How columns are combined, as in '{title}. {genres}'.")
    ] = None,
    batch: Batch = 32,
    half: Half = False,
    device: OnDevice = "auto",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Encode one text per item with a model of sentence-transformers.

    Several columns are joined by a space, or put into a format. Items without text are left out, counted and reported;
    the reader masks them. Rows have length 1. sentence-transformers comes with the extra `features`.

    [bold]Examples[/]

      equipoise features text movies.csv --column title --column genres --encoder all-MiniLM-L6-v2 -o text.npz

      equipoise features text movies.csv --format '{title}. Genres: {genres}' --encoder ./my-model -o text.npz
    """
    from equipoise.features.encode import EncodingJob, require_free
    from equipoise.features.encoders import text_encoder
    from equipoise.features.texts import Wanted, read_texts

    require_free(out, force)
    items = read_texts(table, Wanted(item, tuple(column or ()), template))
    finish(items, lambda: text_encoder(encoder, on(device)), EncodingJob(out, batch, half), as_json)


@app.command()
def images(
    place: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER|TABLE",
            help="A folder of files named by item id (42.png, .jpg, .jpeg, .webp), or a table of ids and paths.",
            show_default=False,
        ),
    ],
    encoder: Annotated[
        str, typer.Option("--encoder", help="FILE.pt2, or open_clip:MODEL/PRETRAINED.", show_default=False)
    ],
    out: Out,
    item: Annotated[str | None, typer.Option("--id", help="Of a table: column of item ids; item_id unless given.")] = (
        None
    ),
    path: Annotated[str | None, typer.Option("--path", help="Of a table: column of paths; path unless given.")] = None,
    skip_damaged: Annotated[
        bool, typer.Option("--skip-damaged", help="Skip images that cannot be read, and count them.")
    ] = False,
    batch: Batch = 32,
    half: Half = False,
    device: OnDevice = "auto",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Encode one image per item with a program of torch.export or a model of open_clip.

    A FILE.pt2 takes float32 [B, 3, H, W] in [0, 1] and gives [B, d]; pictures are stretched to H × W. Paths in a table
    are relative to the table's folder. A picture that cannot be read ends the command with an error that names it.

    [bold]Examples[/]

      equipoise features images posters --encoder encoder.pt2 -o images.npz

      equipoise features images posters.csv --id movie_id --path file --encoder encoder.pt2 --skip-damaged -o images.npz
    """
    from equipoise.features.encode import EncodingJob, require_free
    from equipoise.features.encoders import image_encoder
    from equipoise.features.pictures import read_pictures

    require_free(out, force)
    items = read_pictures(place, item, path)
    finish(items, lambda: image_encoder(encoder, on(device)), EncodingJob(out, batch, half, skip_damaged), as_json)


def on(device: str) -> str:
    """The device that the name means here; one that is not here is refused."""
    from equipoise.core.device import resolved

    return resolved(device)


def finish(items: Items[Any], load: Callable[[], Encoder[Any]], job: EncodingJob, as_json: bool) -> None:
    """Load the encoder, encode with progress on stderr, and print the result."""
    from equipoise.features.encode import encode

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        encoder = load()
        with shown_progress() as progress:
            done = encode(items, encoder, job, progress)
    except KeyboardInterrupt:
        print("stopped; give the same command again to continue", file=sys.stderr)
        raise typer.Exit(130) from None
    tell_left_out(done)
    if as_json:
        print_json(described(done))
    else:
        about = f"{done.items} items × {done.width}, encoder {done.encoder}, {done.seconds:.1f} s"
        typer.echo(f"{done.path}: {about}")


def described(done: Encoded) -> dict[str, Any]:
    return {
        "path": str(done.path),
        "items": done.items,
        "skipped": done.skipped,
        "width": done.width,
        "encoder": done.encoder,
        "seconds": round(done.seconds, 3),
    }


def tell_left_out(done: Encoded) -> None:
    from equipoise.data.rows import counted, some

    for reason, ids in done.left_out.items():
        print(f"! left out: {counted(len(ids), 'item')} {reason}: {some(ids.tolist())}", file=sys.stderr)


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """A bar on a terminal, otherwise a line for every 10 %."""
    if not sys.stderr.isatty():
        yield Tenths()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("encoding"), BarColumn(bar_width=28), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task("encoding", total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


class Tenths:
    """encoded 40 %, 1600 of 4000 items"""

    def __init__(self) -> None:
        self.told = -1

    def __call__(self, done: int, total: int) -> None:
        tenth = 10 * done // total
        if self.told < 0 and done:
            print(f"going on from {done} of {total} items", file=sys.stderr, flush=True)
        elif tenth > max(self.told, 0):
            print(f"encoded {10 * tenth} %, {done} of {total} items", file=sys.stderr, flush=True)
        self.told = tenth
