"""Published facts of each set: size, download addresses, checksums and terms.

The md5 sums of archives are those their authors or torchvision publish; sha256 sums are of the packed files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

AS_THE_FILE = "as many as the file has"


@dataclass(frozen=True)
class Download:
    """One official file: where it is, where it goes below the data folder, and its md5."""

    address: str
    md5: str
    folder: str = ""

    @property
    def name(self) -> str:
        return self.address.rsplit("/", 1)[1]


@dataclass(frozen=True, kw_only=True)
class Known:
    """The files of a set; `md5` and `sha256` are by file name, of every layout that has a known sum."""

    downloads: tuple[Download, ...] = ()
    md5: Mapping[str, str] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)
    terms: str = ""
    """What the authors ask of whoever downloads it."""

    def known_md5(self, file: str) -> str | None:
        return {item.name: item.md5 for item in self.downloads}.get(file) or self.md5.get(file)

    def facts(self) -> dict[str, Any]:
        """Published sizes, as `data list --json` gives them."""
        raise AssertionError("each kind of data has its own")

    def summary(self) -> tuple[str, str]:
        """What one unit of the set is, and how many there are, as `data list` prints them."""
        raise AssertionError("each kind of data has its own")


@dataclass(frozen=True)
class KnownImages(Known):
    """Published sizes; None where they depend on the user's own files."""

    n_classes: int | None
    shape: tuple[int, int, int] | None
    train: int | None
    test: int | None

    def facts(self) -> dict[str, Any]:
        shape = None if self.shape is None else list(self.shape)
        return {"classes": self.n_classes, "shape": shape, "train": self.train, "test": self.test}

    def summary(self) -> tuple[str, str]:
        if self.shape is None:
            return "images", AS_THE_FILE
        return f"{self.n_classes} classes, {'×'.join(map(str, self.shape))}", f"{self.train} + {self.test} images"


@dataclass(frozen=True)
class KnownInteractions(Known):
    """Published counts; None where they depend on the user's own file."""

    users: int | None
    items: int | None
    interactions: int | None

    def facts(self) -> dict[str, Any]:
        return {"users": self.users, "items": self.items, "interactions": self.interactions}

    def summary(self) -> tuple[str, str]:
        if self.interactions is None:
            return "interactions", AS_THE_FILE
        return f"{self.users} users, {self.items} items", f"{self.interactions} interactions"


_TORONTO = "https://www.cs.toronto.edu/~kriz"
_HOUSES = "http://ufldl.stanford.edu/housenumbers"
_ZALANDO = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
_FASHION = "FashionMNIST/raw"
_GROUPLENS = "https://files.grouplens.org/datasets/movielens"
_MOVIELENS_TERMS = (
    "MovieLens is for research, with acknowledgement: do not redistribute it, and do not use it commercially, without"
    " permission from GroupLens"
)

CIFAR10 = KnownImages(
    n_classes=10,
    shape=(3, 32, 32),
    train=50_000,
    test=10_000,
    downloads=(Download(f"{_TORONTO}/cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530"),),
    md5={
        "cifar-10-python.tar.gz": "c58f30108f718f92721af3b95e74349a",
        "data_batch_1": "c99cafc152244af753f735de768cd75f",
        "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
        "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
        "data_batch_4": "634d18415352ddfa80567beed471001a",
        "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
        "test_batch": "40351d587109b95175f43aff81a1287e",
    },
    sha256={
        "cifar10_labels.npz": "100457827cb30b2869dbdce3761c5279714820de9a8c6fa4d0dcc7cbc3037527",
        "cifar10_test_images.npy.xz": "a6076c70753de207d074cf840990bf127f88c5796c9daf33c6274befac607d57",
        "cifar10_train1_images.npy.xz": "7e87fa3a71cc8cac521109f94e4a4256e5bac430d7c0fc47069b7e3ef560a0a4",
        "cifar10_train2_images.npy.xz": "cd9e633c2ebbf016c23d76d19365d6a22a82d87638c6e89d3fdb48c591fcb627",
        "cifar10_train3_images.npy.xz": "2626cbc44b32c44140e3904cf7fb25befbd21beee126de536bd0a9756e85137f",
        "cifar10_train4_images.npy.xz": "56b00212c8170a68abb60b823f6e416e2d72e2b015cd9eead1d5743faa80238b",
        "cifar10_train5_images.npy.xz": "1966d7118b3f6d53cb208db5b17879ce5f7a6f87f86559d3b461488e7270c7d6",
    },
)

CIFAR100 = KnownImages(
    n_classes=100,
    shape=(3, 32, 32),
    train=50_000,
    test=10_000,
    downloads=(Download(f"{_TORONTO}/cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8"),),
    md5={
        "cifar-100-python.tar.gz": "eb9058c3a382ffc7106e4002c42a8d85",
        "train": "16019d7e3df5f24257cddd939b257f8d",
        "test": "f0ef6b0ae62326f3e7ffdfab6717acfc",
    },
)

SVHN = KnownImages(
    n_classes=10,
    shape=(3, 32, 32),
    train=73_257,
    test=26_032,
    downloads=(
        Download(f"{_HOUSES}/train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373", "svhn"),
        Download(f"{_HOUSES}/test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3", "svhn"),
    ),
)

FASHION_MNIST = KnownImages(
    n_classes=10,
    shape=(1, 28, 28),
    train=60_000,
    test=10_000,
    downloads=(
        Download(f"{_ZALANDO}/train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d", _FASHION),
        Download(f"{_ZALANDO}/train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe", _FASHION),
        Download(f"{_ZALANDO}/t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79", _FASHION),
        Download(f"{_ZALANDO}/t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310", _FASHION),
    ),
    sha256={
        "fashion_mnist_labels.npz": "e0316d6ac3c9fc3830536575e3968ad58488aa0920049fb26154d43ba42b846c",
        "fashion_mnist_test_images.npy.xz": "427204af9992219709770d65c5de9c9e1a06ed9eb49e98405f2e59db62d6e0da",
        "fashion_mnist_train_images.npy.xz": "c6af841a2496a1a03050ac0374765402ce2313001645dd4bdf9dbe9c7f56377c",
    },
)

TINY_IMAGENET = KnownImages(
    n_classes=200,
    shape=(3, 64, 64),
    train=100_000,
    test=10_000,
    downloads=(Download("http://cs231n.stanford.edu/tiny-imagenet-200.zip", "90528d7ca1a48142e341f4ef8d21d0de"),),
    sha256={
        "tinyimagenet32_classes.parquet": "06f59432b37478507e4006e64273afe3b4ab5b565a1e0c2c7b44184d409794c9",
        "tinyimagenet32_train.parquet": "6140fee3db95e8039ded522d90a26dd5aa9b9936600ce41980be11a18f3d281f",
        "tinyimagenet32_val.parquet": "1410660e92d063ec1cfb76e8fa06864c21eef1f711134790cddeb99c8048c1b9",
    },
)

MOVIELENS_1M = KnownInteractions(
    users=6040,
    items=3706,
    interactions=1_000_209,
    downloads=(Download(f"{_GROUPLENS}/ml-1m.zip", "c4d9eecfca2ab87c1945afe126590906"),),
    sha256={"ml1m_ratings.parquet": "241d2fb18b85537bcaec03f1c791d88d187b2a8027e336e5a19bef74c8dbda20"},
    terms=_MOVIELENS_TERMS,
)

MOVIELENS_100K = KnownInteractions(
    users=943,
    items=1682,
    interactions=100_000,
    downloads=(Download(f"{_GROUPLENS}/ml-100k.zip", "0e33842e24a9c977be4e0107933c0723"),),
    sha256={"ml100k_ratings.parquet": "ef5815c82d7c9b9b537a9a194a70b34dfce1887fb679291840c0cb0b5cad6ecb"},
    terms=_MOVIELENS_TERMS,
)

KNOWN: dict[str, Known] = {
    "digits": KnownImages(n_classes=10, shape=(1, 8, 8), train=1438, test=359),
    "synthetic": KnownImages(n_classes=10, shape=(3, 8, 8), train=1000, test=500),
    "cifar10": CIFAR10,
    "cifar100": CIFAR100,
    "svhn": SVHN,
    "fashion-mnist": FASHION_MNIST,
    "tiny-imagenet": TINY_IMAGENET,
    "movielens-1m": MOVIELENS_1M,
    "movielens-100k": MOVIELENS_100K,
    "planted": KnownInteractions(users=200, items=400, interactions=11_720),
}
"""By the name of the set; readers of other kinds of data add theirs.

Digits, synthetic and planted need no file; the generated two are described as by default."""
OWN_IMAGES = KnownImages(n_classes=None, shape=None, train=None, test=None)
OWN_INTERACTIONS = KnownInteractions(users=None, items=None, interactions=None)
"""Of sets that are as large as the user's files, or as a plugin makes them."""
