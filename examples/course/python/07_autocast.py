"""Chapter 7, autocast: the facts that ops state, the policy that turns them into casts, the cache
of weight casts, and a stray float32 operand."""

from collections.abc import Callable
from typing import Optional

import course
import halfgrad as hg
from halfgrad import nn
from halfgrad.inspector import OpLog


def half(value: float, count: int = 1) -> hg.Tensor:
    return hg.full((count,), value, dtype=hg.float16)


# One op of each precision class, on float16 operands for which a float16 result is too small a box.
EXAMPLES = [
    ("tensor_core", "linear of 300 and 300",
     lambda: nn.functional.linear(half(300).reshape(1, 1), half(300).reshape(1, 1))),
    ("wide_range", "exp of 12", lambda: hg.exp(half(12))),
    ("wide_accumulate", "sum of 1024 times 100", lambda: half(100, 1024).sum()),
    ("widest_operand", "addcmul of float32 70000 and float16 1 * 1",
     lambda: hg.addcmul(hg.full((1,), 70000.0), half(1), half(1))),
    ("any", "add of 40000 and 40000", lambda: half(40000) + half(40000)),
]


def policy(precision: str, operands: list) -> list:
    """The whole policy: the dtypes in which an op of this class reads its floating operands."""
    if precision == "tensor_core":
        return [hg.float16 for _ in operands]
    if precision == "wide_range":
        return [hg.float32 for _ in operands]
    if precision == "wide_accumulate":
        return [hg.float32, *operands[1:]]
    if precision == "widest_operand":
        widest = hg.float32 if hg.float32 in operands else hg.float16
        return [widest for _ in operands]
    if precision == "unsafe":
        raise RuntimeError("use the variant with logits")
    return operands  # any


def dtype_name(tensor: hg.Tensor) -> str:
    return str(tensor.dtype).split(".")[-1]


def show_classes(chapter: course.Chapter) -> None:
    print("class            call                                         float16  autocast")
    for precision, call, run in EXAMPLES:
        in_half = run().half().item()
        with hg.autocast("cpu"):
            result = run()
        print(f"{precision:16} {call:44} {in_half:7g}  {result.item():g}, {dtype_name(result)}")
        chapter.fact(f"value_{precision}", result.item())
        chapter.fact(f"dtype_{precision}", dtype_name(result))
        expected = policy(precision, [hg.float16, hg.float16])[0]
        if precision != "widest_operand" and result.dtype != expected:
            raise RuntimeError(f"{call}: the policy says {expected}, autocast {result.dtype}")
    try:
        with hg.autocast("cpu"):
            nn.functional.binary_cross_entropy(half(0.5), half(1))
    except RuntimeError as error:
        print(f"unsafe: {error}")


def log_of(model: Optional[nn.Module], forward: Callable[[], object]) -> OpLog:
    """The ops of a forward pass in a region."""
    log = OpLog(model)
    with log, hg.autocast("cpu"):
        forward()
    return log


def bytes_cast(log: OpLog) -> int:
    return sum(row.bytes_cast for row in log.summary())


def show_forward_pass(chapter: course.Chapter) -> None:
    hg.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 10))
    log = log_of(model, lambda: nn.functional.cross_entropy(
        model(hg.randn(16, 32)), hg.zeros(16, dtype=hg.int64)))
    print("\nWhy each op of a small network ran where it ran:")
    print(*log.records, sep="\n")
    print(f"\n{log}")
    chapter.fact("ops", len(log.records))
    chapter.fact("forward_bytes", bytes_cast(log))


def show_cache(chapter: course.Chapter) -> None:
    """A weight that is used eight times, as in a recurrent network."""
    cell = nn.Linear(256, 256)
    for which, caches in (("with_cache", True), ("without_cache", False)):
        log = OpLog(cell)
        with log, hg.autocast("cpu", cache_enabled=caches):
            h = hg.randn(4, 256)
            for _ in range(8):
                h = hg.tanh(cell(h))
        casts = [operand.cast for record in log.records for operand in record.operands
                 if operand.parameter == "weight"]
        print(f"cache {'on' if caches else 'off'}: the weight is cast {casts.count('made')} times "
              f"and found in the cache {casts.count('cached')} times")
        chapter.fact("casts_" + which, casts.count("made"))
        chapter.fact("bytes_" + which, bytes_cast(log))


def show_stray_operand(chapter: course.Chapter) -> None:
    """A float32 mask beside float16 activations makes the product, and what follows, float32."""
    first, second = nn.Linear(256, 256), nn.Linear(256, 256)
    x, mask = hg.randn(64, 256), hg.ones(64, 256)
    print()
    for which, dtype in (("float_mask", hg.float32), ("half_mask", hg.float16)):
        masked = []

        def forward() -> None:
            h = first(x)
            masked.append(h * mask.to(dtype))
            second(masked[0])

        log = log_of(None, forward)
        name = dtype_name(masked[0])
        print(f"{dtype_name(mask.to(dtype))} mask: the product is {name}")
        if dtype == hg.float32:
            chapter.fact("dtype_masked", name)
        promoted = [record for record in log.records if record.is_promoted]
        print(*promoted, sep="\n", end="\n" if promoted else "")
        chapter.fact("promoted_" + which, len(promoted))
        chapter.fact("bytes_" + which, bytes_cast(log))


def show_gradients(chapter: course.Chapter) -> None:
    layer = nn.Linear(4, 4)
    with hg.autocast("cpu"):
        y = layer(hg.ones(1, 4))
    y.sum().backward()
    print()
    chapter.fact("dtype_output", dtype_name(y))
    chapter.fact("dtype_weight", dtype_name(layer.weight))
    chapter.fact("dtype_gradient", dtype_name(layer.weight.grad))


def main(chapter: course.Chapter) -> None:
    show_classes(chapter)
    show_forward_pass(chapter)
    show_cache(chapter)
    show_stray_operand(chapter)
    show_gradients(chapter)


if __name__ == "__main__":
    course.run(main, slug="07_autocast",
               does="Shows in which dtype autocast runs each op, and why.")
