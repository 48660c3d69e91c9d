"""The registered networks and their settings. The code of a network is imported when it is built."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from equipoise.config.blocks import ModelOptions
from equipoise.config.choices import Fusion, Norm
from equipoise.config.traits import HISTORIES, PIXELS, SOLVED
from equipoise.core.registry import MODELS
from equipoise.models.backbone_options import BackboneOptions


class MlpOptions(ModelOptions):
    name: str = "mlp"
    hidden: int = Field(64, ge=1, description="units of each hidden layer")
    layers: int = Field(1, ge=0, description="number of hidden layers; 0: logistic regression")


class LinearOptions(ModelOptions):
    name: str = "linear"


class CnnOptions(ModelOptions):
    name: str = "cnn"
    width: int = Field(32, ge=1, description="channels of the first convolution; the second has twice as many")
    features: int = Field(128, ge=1, description="size D of the feature vector")
    norm: Norm = Field("none", description="normalisation after each convolution")


class ResnetOptions(ModelOptions):
    width: int = Field(64, ge=1, description="channels of the first stage")
    stem_stride: int = Field(1, ge=1, le=2, description="2 halves the image in the stem: four times fewer operations")
    projector: int | None = Field(None, ge=1, description="size D of a linear projector after the encoder")
    norm: Norm = Field("batch", description="normalisation after each convolution")


class Resnet8Options(ResnetOptions):
    name: str = "resnet8"
    width: int = Field(16, ge=1, description="channels of the first stage")


class Resnet10Options(ResnetOptions):
    name: str = "resnet10"


class Resnet18Options(ResnetOptions):
    name: str = "resnet18"


class FiltersOptions(ModelOptions):
    name: str = "filters"
    filters: int = Field(64, ge=1, description="random filters; the features are eight times as many")


class PatchesOptions(ModelOptions):
    name: str = "patches"
    filters: int | None = Field(
        None,
        ge=1,
        description="J, filters cut from public photographs; null: 1250, or 200 for images below 16×16 pixels",
    )
    size: int | None = Field(
        None, ge=2, le=16, description="height and width of a filter; null: 6, or 3 for images below 16×16 pixels"
    )
    cells: int = Field(2, ge=1, le=8, description="the image is pooled in cells × cells parts")
    threshold: float = Field(0.5, ge=0, description="θ, what a filter's response must exceed to count")
    kept: int | None = Field(
        None, ge=1, description="directions of the responses that are kept in each cell; null: the responses themselves"
    )
    directions: Literal["principal", "random"] = Field(
        "principal", description="which ones: those that photographs vary in most, or random ones"
    )
    mirror: bool = Field(True, description="the mean over an image and its mirror image")


class SasrecOptions(ModelOptions):
    name: str = "sasrec"
    width: int = Field(128, ge=1, description="D, the length of item vectors and states")
    blocks: int = Field(2, ge=1, description="layers of self-attention")
    heads: int = Field(4, ge=1, description="attention heads of a layer; they divide the width")
    length: int = Field(50, ge=1, description="T, positions of a window")
    dropout: float = Field(0.1, ge=0, lt=1, description="share of a layer's output that is dropped in training")
    scoring: Literal["dot", "cosine"] = Field("dot", description="dot product with scale and bias, or √D·cosine")

    @field_validator("heads")
    @classmethod
    def _divide_the_width(cls, value: int, info: ValidationInfo) -> int:
        width = info.data.get("width", value)
        if width % value:
            raise ValueError(f"heads share the width equally, and {width} is not a multiple of {value}")
        return value


class DmmrOptions(SasrecOptions):
    name: str = "dmmr"
    experts: Literal["visual", "semantic", "both"] = Field("both", description="which modalities are read")
    keys: int = Field(64, ge=1, description="width of the experts' queries and keys")
    fusion: Fusion = Field("zero", description="how experts join: zero (ours), identity (the report), or two failures")
    router: Literal["user", "item"] = Field("user", description="weights by user and item, or by the item alone")


class ItemTablesOptions(ModelOptions):
    name: str = "item-tables"


MODELS.declare("mlp", "equipoise.models.mlp:mlp", options=MlpOptions)
MODELS.declare("linear", "equipoise.models.linear:linear", options=LinearOptions)
MODELS.declare("cnn", "equipoise.models.cnn:cnn", options=CnnOptions, traits=(PIXELS,))
MODELS.declare("resnet8", "equipoise.models.resnet:resnet8", options=Resnet8Options, traits=(PIXELS,))
MODELS.declare("resnet10", "equipoise.models.resnet:resnet10", options=Resnet10Options, traits=(PIXELS,))
MODELS.declare("resnet18", "equipoise.models.resnet:resnet18", options=Resnet18Options, traits=(PIXELS,))
MODELS.declare("filters", "equipoise.models.filters:filters", options=FiltersOptions, traits=(PIXELS,))
MODELS.declare("patches", "equipoise.models.patches:patches", options=PatchesOptions, traits=(PIXELS,))
MODELS.declare("backbone", "equipoise.models.backbone:backbone", options=BackboneOptions, traits=(PIXELS,))
MODELS.declare("sasrec", "equipoise.models.recommender:sasrec", options=SasrecOptions, traits=(HISTORIES,))
MODELS.declare("dmmr", "equipoise.models.recommender:dmmr", options=DmmrOptions, traits=(HISTORIES,))
MODELS.declare(
    "item-tables", "equipoise.models.item_tables:item_tables", options=ItemTablesOptions, traits=(HISTORIES, SOLVED)
)
