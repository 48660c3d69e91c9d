"""The simulated device computes what the CPU computes, to the last bit: modules, gradients, transforms, optimisers."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Iterable
from types import ModuleType

import pytest
import safetensors.torch
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

DRAW = torch.Generator().manual_seed(7)


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=DRAW)


IMAGES = normal(4, 3, 8, 8)
CHANNELS_LAST = IMAGES.to(memory_format=torch.channels_last)
SEQUENCES = normal(2, 5, 8)
LABELS = torch.tensor([0, 2, 1, 1])
LOGITS = normal(4, 3)
PLACES = torch.tensor([[0, 1, 2], [3, 0, 1]])
SQUARE = normal(6, 6)
POSITIVE = SQUARE @ SQUARE.T + torch.eye(6)


class Function(nn.Module):
    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.forward = function


def assert_same(cpu: Iterable[Tensor], sim: Iterable[Tensor], tolerance: float = 0.0) -> None:
    for one, other in zip(cpu, sim, strict=True):
        assert other.device.type == "sim"
        assert one.stride() == other.stride() or tolerance
        torch.testing.assert_close(other.cpu(), one, rtol=tolerance, atol=tolerance)


def attention(query: Tensor) -> Tensor:
    mask = torch.ones(5, 5, dtype=torch.bool, device=query.device).tril()
    return F.scaled_dot_product_attention(query, query, query, attn_mask=mask)


def small_network() -> nn.Sequential:
    layers = (
        nn.Conv2d(3, 4, 3, padding=1),
        nn.GroupNorm(2, 4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 3),
    )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(3)
        return nn.Sequential(*layers).apply(lambda layer: getattr(layer, "reset_parameters", bool)())


MODULES: dict[str, tuple[nn.Module, tuple[Tensor, ...]]] = {
    "conv": (nn.Conv2d(3, 6, 3, stride=2, padding=1, groups=3), (IMAGES,)),
    "conv without bias": (nn.Conv2d(3, 5, 3, bias=False), (IMAGES,)),
    "conv channels last": (nn.Conv2d(3, 5, 3).to(memory_format=torch.channels_last), (CHANNELS_LAST,)),
    "conv1d": (nn.Conv1d(3, 5, 3), (IMAGES[..., 0],)),
    "transposed conv": (nn.ConvTranspose2d(3, 5, 3), (IMAGES,)),
    "batch norm": (nn.BatchNorm2d(3), (IMAGES,)),
    "batch norm channels last": (nn.BatchNorm2d(3), (CHANNELS_LAST,)),
    "batch norm for evaluation": (nn.BatchNorm2d(3).eval(), (IMAGES,)),
    "group norm": (nn.GroupNorm(1, 3), (IMAGES,)),
    "layer norm": (nn.LayerNorm(8), (IMAGES,)),
    "pools": (nn.Sequential(nn.MaxPool2d(2), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(1)), (IMAGES,)),
    "activations": (nn.Sequential(nn.GELU(), nn.Softmax(-1), nn.LogSoftmax(-1)), (IMAGES,)),
    "embedding": (nn.Embedding(10, 4, padding_idx=0), (PLACES,)),
    "transformer": (nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True), (SEQUENCES,)),
    "network": (small_network(), (IMAGES,)),
    "attention": (Function(attention), (SEQUENCES[:, None],)),
    "cross entropy": (Function(lambda a, y: F.cross_entropy(a, y, label_smoothing=0.1)), (LOGITS, LABELS)),
    "mse": (Function(F.mse_loss), (LOGITS, normal(4, 3))),
    "kl": (
        Function(lambda a, b: F.kl_div(a.log_softmax(1), b.softmax(1), reduction="batchmean")),
        (LOGITS, normal(4, 3)),
    ),
    "index_put": (
        Function(lambda a, i, v: a.index_put((i,), v, accumulate=True)),
        (normal(5, 3), LABELS, normal(4, 3)),
    ),
    "scatter": (
        Function(lambda a, i, b: a.scatter(0, i, b) + a.scatter_add(0, i, b)),
        (normal(5, 3), PLACES, normal(2, 3)),
    ),
    "gather": (Function(lambda a, i: a.gather(0, i) + a.index_select(0, i[0]).sum()), (normal(5, 3), PLACES)),
    "sort": (Function(lambda a: a.sort(-1)[0] + a.topk(8)[0] + a.cumsum(-1)), (IMAGES,)),
    "reductions": (Function(lambda a: a.logsumexp(-1) + a.norm(dim=-1) + a.std(-1) + a.amax(-1)), (IMAGES,)),
    "einsum": (Function(lambda a: torch.einsum("bchw,bdhw->bcd", a, a)), (IMAGES,)),
    "grid sample": (Function(lambda a, g: F.grid_sample(a, g, align_corners=False)), (IMAGES, normal(4, 5, 5, 2))),
    "pad and unfold": (Function(lambda a: F.unfold(F.pad(a, (1, 1, 1, 1), "reflect"), 3)), (IMAGES,)),
    "solve": (Function(torch.linalg.solve), (POSITIVE, SQUARE)),
    "cholesky": (Function(torch.linalg.cholesky), (POSITIVE,)),
    "eigh": (Function(lambda a: torch.linalg.eigh(a)[0]), (POSITIVE,)),
    "svd": (Function(lambda a: torch.linalg.svd(a)[1]), (SQUARE,)),
    "fft": (Function(lambda a: torch.view_as_real(torch.fft.rfft(a))), (IMAGES,)),
}


ROUNDED_OTHERWISE = {"attention", "transformer"}
"""The CPU fuses attention; any other device, a real one too, does not do so in the same order."""


@pytest.mark.parametrize("name", MODULES)
def test_a_module_its_gradients_and_buffers(name: str):
    module, inputs = MODULES[name]
    found = []
    for device in ("cpu", "sim"):
        model = copy.deepcopy(module).to(device)
        given = [each.detach().to(device).requires_grad_(each.is_floating_point()) for each in inputs]
        output = model(*given)
        weights = torch.linspace(-1, 1, output.numel()).reshape(output.shape).to(device)
        (output * weights).sum().backward()
        leaves = [*model.parameters(), *(each for each in given if each.requires_grad)]
        found.append([output, *(leaf.grad for leaf in leaves), *model.buffers()])
    assert_same(*found, 1e-5 if name in ROUNDED_OTHERWISE else 0.0)


NETWORK = small_network()


def losses(weights: dict[str, Tensor], images: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(functional_call(NETWORK, weights, (images,)), labels)


def stacked(device: str) -> tuple[dict[str, Tensor], Tensor, Tensor]:
    """Weights, images and labels of three clients."""
    weights = {name: weight.detach().to(device) for name, weight in NETWORK.named_parameters()}
    several = {name: torch.stack([weight + k / 100 for k in range(3)]) for name, weight in weights.items()}
    return several, torch.stack([IMAGES + k for k in range(3)]).to(device), LABELS.expand(3, -1).to(device)


def gradients_of_vmap(device: str) -> list[Tensor]:
    return list(vmap(grad(losses))(*stacked(device)).values())


def backward_through_vmap(device: str) -> list[Tensor]:
    weights, images, labels = stacked(device)
    leaves = [weight.requires_grad_() for weight in weights.values()]
    vmap(losses)(weights, images, labels).sum().backward()
    return [leaf.grad for leaf in leaves]


def hessian(device: str) -> list[Tensor]:
    return [torch.func.hessian(lambda a: (a.sin() ** 3).sum())(LOGITS.to(device))]


def forward_mode(device: str) -> list[Tensor]:
    return list(torch.func.jvp(lambda a: F.layer_norm(a, (3,)).exp(), (LOGITS.to(device),), (LOGITS.to(device),)))


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch does so itself, for forward mode
@pytest.mark.parametrize("compute", [gradients_of_vmap, backward_through_vmap, hessian, forward_mode])
def test_transforms_of_torch_func(compute: Callable[[str], list[Tensor]]):
    assert_same(compute("cpu"), compute("sim"))


@pytest.mark.parametrize(
    "optimiser",
    [
        lambda weights: torch.optim.SGD(weights, lr=0.1, momentum=0.9, weight_decay=0.1, foreach=True),
        lambda weights: torch.optim.AdamW(weights, lr=0.1, foreach=True),
        lambda weights: torch.optim.AdamW(weights, lr=0.1, foreach=False),
    ],
    ids=["sgd", "adamw", "adamw one by one"],
)
def test_an_optimiser_takes_the_same_steps(optimiser):
    found = []
    for device in ("cpu", "sim"):
        model = small_network().to(device)
        stepper = optimiser(model.parameters())
        for _ in range(3):
            stepper.zero_grad()
            F.cross_entropy(model(IMAGES.to(device)), LABELS.to(device)).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            stepper.step()
        found.append([*model.parameters()])
    assert_same(*found)


def test_autocast_computes_products_in_bfloat16_and_losses_in_float32():
    model, norm = small_network().to("sim"), nn.BatchNorm2d(3).to("sim")
    with torch.autocast("sim", dtype=torch.bfloat16):
        logits = model(norm(IMAGES.to("sim")))
        loss = F.cross_entropy(logits, LABELS.to("sim"))
        several = vmap(losses)(*stacked("sim"))
    loss.backward()
    assert (logits.dtype, loss.dtype, several.dtype) == (torch.bfloat16, torch.float32, torch.float32)
    assert {weight.grad.dtype for weight in model.parameters()} == {norm.running_mean.dtype} == {torch.float32}
    torch.testing.assert_close(loss.cpu(), F.cross_entropy(small_network()(IMAGES), LABELS), rtol=0.05, atol=0.05)


def test_views_share_memory_and_results_may_grow():
    here = IMAGES.to("sim")
    here.permute(1, 0, 2, 3)[0].fill_(7)
    assert here[:, 0].eq(7).all()
    grown = torch.empty(0, device="sim")
    assert_same([IMAGES + IMAGES], [torch.add(IMAGES.to("sim"), IMAGES.to("sim"), out=grown)])
    assert grown.resize_(2, 3).shape == (2, 3)
    assert torch.empty(0, device="sim").set_(here).data_ptr() == here.data_ptr()


def test_a_model_can_be_copied_saved_and_loaded(tmp_path):
    model = small_network().to("sim")
    state = {name: weight.cpu() for name, weight in model.state_dict().items()}
    safetensors.torch.save_file(state, tmp_path / "model.safetensors")
    again = copy.deepcopy(model).apply(lambda layer: [nn.init.zeros_(weight) for weight in layer.parameters()])
    again.load_state_dict(safetensors.torch.load_file(tmp_path / "model.safetensors"))
    assert_same(state.values(), again.state_dict().values())
    stream = io.BytesIO()
    torch.save(model.state_dict(), stream)
    assert_same(state.values(), torch.load(io.BytesIO(stream.getvalue())).values())
    assert torch.load(io.BytesIO(stream.getvalue()), map_location="cpu")["0.bias"].device.type == "cpu"


def test_inference_mode_and_a_loader_that_pins(sim: ModuleType):
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(IMAGES), batch_size=2, pin_memory=True)
    with torch.inference_mode():
        batches = [batch for (batch,) in loader]
        assert all(batch.is_pinned() for batch in batches)
        outputs = torch.cat([small_network().to("sim")(batch.to("sim", non_blocking=True)) for batch in batches])
        assert_same([torch.cat([small_network()(batch) for batch in batches])], [outputs.view(4, 3)])
