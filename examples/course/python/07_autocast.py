"""Chapter 7, autocast: the facts that ops state, and the policy that turns them into casts. What
the log of ops shows (bytes, the cache) is in the C++ program alone."""

import course
import halfgrad as hg
from halfgrad import nn


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


def show_stray_operand(chapter: course.Chapter) -> None:
    first, mask = nn.Linear(256, 256), hg.ones(64, 256)
    with hg.autocast("cpu"):
        h = first(hg.randn(64, 256))
        print("\nfloat32 mask:")
        chapter.fact("dtype_masked", dtype_name(h * mask))
        print(f"float16 mask: the product is {dtype_name(h * mask.to(h.dtype))}\n")


def show_gradients(chapter: course.Chapter) -> None:
    layer = nn.Linear(4, 4)
    with hg.autocast("cpu"):
        y = layer(hg.ones(1, 4))
    y.sum().backward()
    chapter.fact("dtype_output", dtype_name(y))
    chapter.fact("dtype_weight", dtype_name(layer.weight))
    chapter.fact("dtype_gradient", dtype_name(layer.weight.grad))


def main(chapter: course.Chapter) -> None:
    show_classes(chapter)
    show_stray_operand(chapter)
    show_gradients(chapter)


if __name__ == "__main__":
    course.run(main, slug="07_autocast",
               does="Shows in which dtype autocast runs each op, and why.")
