"""Your own images: a folder with one folder of images per class.

    DIR/train/CLASS/*.png  and  DIR/test/CLASS/*.png        or  DIR/CLASS/*.png, of which a share is held out for test

Classes are the sorted names of the folders. All images have one size, unless `data.size` resizes them to a square.
They have one channel where all of them are greyscale, three otherwise; transparency is dropped. Names that begin with
a dot are skipped; any other file that is not an image is an error, as is a file that cannot be decoded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from pydantic import Field

from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.core.values import Dataset, Images
from equipoise.data.cache import cached
from equipoise.data.own import OWN_FILES, OwnPlace, own_path
from equipoise.data.own_images import OwnImageOptions, own_dataset, refuse_share, with_test
from equipoise.data.picture_files import SUFFIXES, decode_pictures
from equipoise.data.source import Found, Pair

PARTS = ("train", "test")
Listing = dict[str, list[Path]]
"""By class: its image files, sorted by name."""


class FolderOptions(OwnImageOptions):
    """Which folder, and to what size its images are brought."""

    name: str = "folder"
    folder: str | None = Field(None, description="the folder of images, relative to the data folder; . is that itself")
    size: int | None = Field(None, ge=1, description="resize every image to this height and width; null: as they are")


@DATASETS.register("folder", aliases=("image-folder", "imagefolder"), options=FolderOptions, traits=("own-folder",))
def image_folder(options: FolderOptions, folder: Path | None) -> Dataset:
    place = image_place(options, folder)
    train, test = listings(place)
    classes = tuple(train)
    if test is not None:
        refuse_share(options.test_share, str(place))
        _require_known(test, classes, place)
    decode = _decoder(options, train, test, place)
    name = f"folder-{options.size}-{options.test_share}"
    return own_dataset("folder", cached(name, Found(files_of(train, test), decode)), classes, str(place))


def image_place(options: FolderOptions, folder: Path | None) -> Path:
    return own_path(options.folder, folder, OwnPlace("data.folder", "folder of images", is_file=False))


OWN_FILES["folder"] = lambda options, folder: files_of(*listings(image_place(options, folder)))


def listings(place: Path) -> tuple[Listing, Listing | None]:
    """The classes of train and of test; None where there is no test part."""
    there = [part for part in PARTS if (place / part).is_dir()]
    if not there:
        return listed(place), None
    if there != list(PARTS):
        missing = next(part for part in PARTS if part not in there)
        what = f"{place.name} has a folder '{there[0]}' and no folder '{missing}'"
        fix = f"add {missing}/CLASS/…, or put the classes directly below {place.name} to have a share held out for test"
        raise DataError(what, where=str(place), fix=fix)
    return listed(place / "train"), listed(place / "test")


def listed(place: Path) -> Listing:
    """The images of each class of a folder."""
    inside = [path for path in sorted(place.iterdir()) if not path.name.startswith(".")]
    loose = [path for path in inside if not path.is_dir()]
    if loose:
        what = f"{len(loose)} files lie beside the folders of classes, as {loose[0].name}"
        raise DataError(what, where=str(place), fix="move each image into the folder of its class, remove the others")
    if not inside:
        fix = "expected DIR/CLASS/IMAGE, or DIR/train/CLASS/IMAGE and DIR/test/CLASS/IMAGE"
        raise DataError(f"there are no images in {place.name}", where=str(place), fix=fix)
    return {path.name: _images_of(path) for path in inside}


def _images_of(place: Path) -> list[Path]:
    inside = [path for path in sorted(place.iterdir()) if not path.name.startswith(".")]
    strange = [path for path in inside if not path.is_file() or path.suffix.lower() not in SUFFIXES]
    if strange:
        what = f"class '{place.name}' holds {strange[0].name}, which is not an image file"
        fix = f"remove it, or convert it; images end with {', '.join(SUFFIXES)}"
        raise DataError(what, where=str(strange[0]), fix=fix)
    if not inside:
        what = f"class '{place.name}' has no images"
        raise DataError(what, where=str(place), fix="add images, or remove the empty folder")
    return inside


def _require_known(test: Listing, classes: tuple[str, ...], place: Path) -> None:
    unknown = [name for name in test if name not in classes]
    if unknown:
        what = f"{len(unknown)} classes of test are not in train, as '{unknown[0]}'"
        fix = "give train images of these classes, or remove them from test; names must agree letter by letter"
        raise DataError(what, where=str(place / "test" / unknown[0]), fix=fix)


def files_of(train: Listing, test: Listing | None) -> tuple[Path, ...]:
    return tuple(path for listing in (train, test or {}) for files in listing.values() for path in files)


def _decoder(options: FolderOptions, train: Listing, test: Listing | None, place: Path) -> Callable[[], Pair]:
    """How the files become train and test; both are decoded together, so that they have one size."""
    classes = tuple(train)
    labels = [classes.index(name) for listing in (train, test or {}) for name, files in listing.items() for _ in files]
    n_train = sum(map(len, train.values()))

    def decode() -> Pair:
        pixels = decode_pictures(files_of(train, test), options.size)
        everything = Images(pixels, np.array(labels, np.int64))
        if test is None:
            return with_test(everything, classes, options.test_share, str(place))
        first = partial(np.split, indices_or_sections=[n_train])
        (train_pixels, test_pixels), (train_labels, test_labels) = first(pixels), first(everything.labels)
        return Images(train_pixels, train_labels), Images(test_pixels, test_labels)

    return decode
