"""halfgrad.check(reference=...): ops that a formula of halfgrad.reference defines."""

import os
import signal
import traceback

import numpy as np
import pytest

import halfgrad
import halfgrad.reference as hr

FEW = [(3, 5, 37), (2, 17, 5)]
LINEAR = [("m", "k"), ("n", "k"), ("n",)]


def fused(x, w, b):
    wide = x.astype(np.float32) @ w.astype(np.float32).T + b.astype(np.float32)
    return np.maximum(wide, 0).astype(x.dtype)


def linear_relu(x, w, b):
    return hr.relu(x @ w.T + b)


def forgets_the_bias_of_column_3(x, w, b):
    b = b.copy()
    b[3:4] = 0
    return fused(x, w, b)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_fused_kernel_passes(dtype):
    checked = halfgrad.check(fused, reference=linear_relu, inputs=LINEAR, dtype=dtype, stop_at_first=True)
    checked.assert_ok()
    assert checked.report["op"] == "linear_relu" and checked.report["budget_used"] > 0


def test_a_wrong_column_is_named():
    checked = halfgrad.check(forgets_the_bias_of_column_3, reference=linear_relu, inputs=LINEAR, dims=FEW)
    assert [finding.fault for finding in checked.findings] == ["wrong value"]
    assert checked.findings[0].places["worst"][0]["index"][1] == 3
    assert "smallest_case" in checked.report


def test_the_smallest_case_of_a_formula_is_saved(tmp_path):
    path = tmp_path / "case.safetensors"
    halfgrad.check(forgets_the_bias_of_column_3, reference=linear_relu, inputs=LINEAR, dims=FEW).save_case(path)
    saved, metadata = halfgrad.io.load_safetensors(path)
    assert metadata["op"] == "linear_relu"
    inputs = [saved[f"input{i}"].numpy() for i in range(3)]
    wrong = forgets_the_bias_of_column_3(*inputs).astype(np.float64) - saved["expected"].numpy()
    assert (np.abs(wrong) > saved["allowed"].numpy()).any()


def test_cases_with_several_outputs():
    both = hr.formula(lambda x: (hr.relu(x), -x), [("m", "k")], outputs=["positive", "negative"])
    for case in halfgrad.cases(both, dims=FEW[:1]):
        x, = case.inputs
        assert [y.shape for y in case.expected] == [y.shape for y in case.budget] == [(3, 37), (3, 37)]
        case.judge((np.maximum(x, 0), -x)).assert_ok()
    wrong = case.judge((x, -x))
    assert "of positive" in wrong.findings[0].message
    with pytest.raises(ValueError, match="expected 2 outputs, got 1"):
        case.judge([x])
    with pytest.raises(ValueError, match="expected an output of negative of"):
        case.judge((x, x[:1]))
    named = next(halfgrad.cases("layer_norm_backward", dims=[(3, 1, 5)]))
    assert [y.shape for y in named.expected] == [(3, 5), (5,), (5,)]


def test_the_gradient_of_a_formula_is_a_formula():
    square = hr.formula(lambda x, w: hr.square(x) * w, [("m", "k"), ("m", "k")], name="scaled_square")
    by_x = hr.gradient(square, 0)
    assert by_x.name == "scaled_square_backward"
    halfgrad.check(lambda x, w, dy: 2 * (x * (w * dy)), by_x, dims=FEW).assert_ok()
    assert not halfgrad.check(lambda x, w, dy: x * w * dy, by_x, dims=FEW, shrink=False)
    both = hr.gradient(square, [0, 1])
    halfgrad.check(lambda x, w, dy: (2 * (x * (w * dy)), x * x * dy), both, dims=FEW).assert_ok()
    with pytest.raises(ValueError, match="expected an input below 2, got 2"):
        hr.gradient(square, 2)


def test_the_budget_of_a_formula_is_that_of_the_named_op():
    options = {"dims": FEW, "seed": 5}
    formula = halfgrad.check(fused, reference=linear_relu, inputs=LINEAR, **options).report
    named = halfgrad.check(fused, "linear_relu", **options).report
    for member in ("budget_used", "histogram", "elements", "unjudged", "max_ulps"):
        assert formula[member] == named[member], member
    assert formula["worst"]["allowed"] == named["worst"]["allowed"]


def test_roundings_between_the_steps_exceed_the_budget():
    def sums_in_half(x, w, b):
        y = np.zeros((x.shape[0], w.shape[0]), np.float16)
        for j in range(x.shape[1]):
            y += x[:, j:j + 1] * w[:, j]
        return np.maximum(y + b, 0)

    options = {"reference": linear_relu, "inputs": LINEAR, "dtype": "float16", "dims": [(3, 5, 257)]}
    assert not halfgrad.check(sums_in_half, **options)
    halfgrad.check(sums_in_half, accumulate="float16", **options).assert_ok()


def swiglu(x, w, v):
    gate, up = x @ w.T, x @ v.T
    return gate / (1 + np.exp(-gate)) * up


def test_swiglu():
    inputs = [("m", "k"), ("n", "k"), ("n", "k")]
    reference = lambda x, w, v: hr.silu(x @ w.t()) * (x @ v.t())  # noqa: E731
    right = halfgrad.check(swiglu, reference=reference, inputs=inputs, dims=FEW)
    right.assert_ok()
    assert right.report["op"] == "formula"
    exchanged = halfgrad.check(lambda x, w, v: swiglu(x, v, w), reference=reference, inputs=inputs,
                               dims=FEW, name="swiglu")
    assert not exchanged and exchanged.report["op"] == "swiglu"


def square_backward(x, dy):
    return 2 * x * dy


def test_the_gradient_by_one_input():
    options = {"reference": lambda x: x * x, "inputs": [("m", "n")], "gradient": 0, "dims": FEW}
    checked = halfgrad.check(square_backward, name="square", **options)
    checked.assert_ok()
    assert checked.report["op"] == "square_backward"
    assert not halfgrad.check(lambda x, dy: x * dy, **options)


def linear_backward(x, w, dy):
    return dy @ w, dy.T @ x


def test_gradients_by_two_inputs_are_two_outputs():
    options = {"reference": lambda x, w: x @ w.T, "inputs": [("m", "k"), ("n", "k")], "gradient": [0, 1],
               "outputs": ["dx", "dw"], "dims": FEW}
    halfgrad.check(linear_backward, **options).assert_ok()

    def fills(x, w, dy, out):
        out[0][...], out[1][...] = linear_backward(x, w, dy)

    halfgrad.check(fills, out=True, **options).assert_ok()
    halfgrad.check(linear_backward, isolate=True, **options).assert_ok()
    wrong = halfgrad.check(lambda x, w, dy: (dy @ w, 2 * (dy.T @ x)), **options)
    assert "dw" in wrong.findings[0].message and wrong.report["worst"]["output"] == "dw"
    one = halfgrad.check(lambda x, w, dy: dy @ w, **options)
    assert "expected a tuple of 2 arrays" in one.findings[0].message


def test_named_ops_with_several_outputs():
    def backward(x, dy, w):
        return dy @ w, dy.T @ x, dy.sum(axis=0)

    halfgrad.check(backward, "linear_backward", dims=FEW).assert_ok()


def test_a_wide_output():
    def softmax(x):
        wide = x.astype(np.float32)
        most = wide.max(axis=1, keepdims=True)
        e = np.exp(wide - most)
        total = e.sum(axis=1, keepdims=True)
        lse = np.where(np.isinf(most), most, np.log(total) + most)
        return (e / total).astype(x.dtype), lse[:, 0]

    halfgrad.check(softmax, reference=lambda x: (hr.softmax(x, 1), x.logsumexp(1)), inputs=[("m", "k")],
                   outputs=["y", hr.output("logsumexp", wide=True)], least=(0, 0, 1), dtype="float16",
                   dims=FEW).assert_ok()


def test_indices_and_masks():
    def embedding(table, index, keep):
        return np.where(keep, table[index], np.float32(0))

    options = {"reference": lambda table, index, keep: hr.where(keep, table.index_select(0, index), 0),
               "inputs": [("k", "n"), hr.indices(("m",), below="k"), hr.mask(("m", "n"))], "dims": FEW}
    halfgrad.check(embedding, **options).assert_ok()
    assert not halfgrad.check(lambda table, index, keep: embedding(table, index[::-1], keep), **options)


def test_ranges_and_constants():
    seen = []

    def scaled(x, p):
        assert p.shape == (4,)
        seen.append(float(p.max()))
        return x * p.sum()

    halfgrad.check(scaled, reference=lambda x, p: x * p.sum(),
                   inputs=[("m",), hr.input((4,), low=0.25, high=0.5)], dims=FEW)
    assert 0.25 <= seen[0] <= 0.5


def test_hostile_values_that_an_operand_admits():
    options = {"reference": lambda v: hr.rsqrt(v + 1e-5), "dims": FEW}
    seen = []

    def kernel(v):
        seen.append(not (v < 0).any())
        return np.float32(1) / np.sqrt(v + np.float32(1e-5))

    halfgrad.check(kernel, inputs=[hr.input(("m", "k"), admitted=abs)], **options).assert_ok()
    assert all(seen)
    with pytest.raises(TypeError, match="expected a number as result of admitted"):
        halfgrad.check(kernel, inputs=[hr.input(("m", "k"), admitted=str)], **options)


def test_elements_that_do_not_matter():
    def kernel(x, padding, out):
        out[~padding] = 2 * x[~padding]

    def check(**masked):
        return halfgrad.check(kernel, reference=lambda x, padding: 2 * x, inputs=[("m", "k"), hr.mask(("m",))],
                              outputs=[hr.output("rows", **masked)], out=True, dims=FEW)

    check(matters=lambda x, padding: np.broadcast_to(padding[:, None] == 0, x.shape)).assert_ok()
    assert not check()
    with pytest.raises(ValueError, match="expected matters to give 1[0-9]+ elements of rows, got [23]"):
        check(matters=lambda x, padding: padding == 0)


def test_in_place_needs_an_output_of_the_first_input():
    def doubles(x, out):
        np.multiply(x, 2, out=out)

    halfgrad.check(doubles, reference=lambda x: 2 * x, inputs=[("m", "n")], out=True, in_place=True,
                   dims=FEW).assert_ok()
    with pytest.raises(ValueError, match="in place"):
        halfgrad.check(doubles, reference=lambda x: x.sum(1), inputs=[("m", "n")], out=True, in_place=True)


def test_an_exception_of_the_reference_reaches_the_caller():
    def fails(x):
        raise LookupError("no such table")

    with pytest.raises(LookupError, match="no such table") as raised:
        halfgrad.check(lambda x: x, reference=fails, inputs=[("m", "n")])
    assert "in fails" in "".join(traceback.format_tb(raised.value.__traceback__))

    def fails_later(x):
        if x.shape[0] == 3:
            raise LookupError("three rows")
        return x

    with pytest.raises(LookupError, match="three rows"):
        halfgrad.check(lambda x: x, reference=fails_later, inputs=[("m", "n")], dims=FEW)


@pytest.mark.parametrize("calls", [1, 40])
def test_control_c_in_the_reference(calls):
    left = [calls]

    def interrupted(x):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGINT)
        return hr.relu(x)

    def check():
        return halfgrad.check(lambda x: x, reference=interrupted, inputs=[("m", "n")])

    if calls == 1:  # before the check begins
        with pytest.raises(KeyboardInterrupt):
            check()
    else:
        checked = check()
        assert "interrupted after" in checked.report["unfinished"] and checked.findings


@pytest.mark.parametrize("error, reference", [
    (ValueError, lambda x, w: x @ w),  # [m, k] by [n, k]
    (TypeError, lambda x: x),
    (TypeError, lambda x, w: 3.0),
    (TypeError, lambda x, w: x if x > 0 else w),
    (TypeError, lambda x, w: np.exp(x)),
])
def test_wrong_references_raise(error, reference):
    with pytest.raises(error):
        halfgrad.check(swiglu, reference=reference, inputs=[("m", "k"), ("n", "k")])


@pytest.mark.parametrize("op, options, text", [
    (None, {}, "got neither"),
    ("relu", {"reference": hr.relu, "inputs": [("m", "n")]}, "and a reference"),
    ("relu", {"inputs": [("m", "n")]}, "expected inputs only with reference="),
    (None, {"reference": hr.relu}, "as inputs"),
    (None, {"reference": hr.relu, "inputs": [("m", "q")]}, "expected m, n or k, got q"),
    (None, {"reference": hr.relu, "inputs": [("m", -1)]}, "a size of 0 or more"),
    (None, {"reference": hr.relu, "inputs": ["m"]}, "a tuple of sizes"),
    (None, {"reference": hr.relu, "inputs": [("m",)], "gradient": 1}, "an input below 1"),
    (None, {"reference": hr.relu, "inputs": [("m",)], "gradient": -1}, "the number of an input"),
    (None, {"reference": hr.relu, "inputs": [("m",)], "outputs": ["y", "z"]}, "expected 2 results"),
    (None, {"reference": hr.relu, "inputs": [("m",)], "least": (1, 1)}, "as least"),
    (7, {}, "the name of an op or a formula"),
])
def test_wrong_arguments_are_refused(op, options, text):
    with pytest.raises(ValueError, match=text):
        halfgrad.check(fused, op, **options)


def test_cases_of_a_formula():
    op = hr.formula(linear_relu, LINEAR)
    assert repr(op).startswith("<halfgrad formula linear_relu: ")
    for case in halfgrad.cases(op, dims=[(3, 5, 7)]):
        assert case.expected.shape == (3, 5)
        if case.kind == "normal":
            case.judge(fused(*case.inputs)).assert_ok()
    halfgrad.check(fused, op, dims=FEW).assert_ok()
    halfgrad.kernel_test(reference=linear_relu, inputs=LINEAR)(fused).check(dims=FEW).assert_ok()


def test_a_formula_of_many_ops_agrees_with_numpy():
    def reference(x, y):
        assert (x.ndim, x.dim(), x.size(), x.numel()) == (2, 2, x.shape, x.size(0) * x.size(1))
        joined = hr.cat([x.abs(), -y], dim=1).permute(1, 0).reshape(2, -1).narrow(0, 0, 1)
        bounded = (1 + 2 * x - y / 2).clamp(min=-1.0, max=1.5)
        chosen = hr.where(x >= y, bounded, hr.maximum(x, y)) + (x == 0) * 3
        spread = x.T.mT.unsqueeze(0).expand((1, *x.shape)).sum(0)
        return chosen + joined.view(-1).amax().tanh() + spread**2

    def kernel(x, y):
        bounded = np.clip(1 + 2 * x - y / 2, np.float32(-1), np.float32(1.5))
        chosen = np.where(x >= y, bounded, np.maximum(x, y)) + (x == 0) * np.float32(3)
        return chosen + np.tanh(np.abs(x).max()) + x * x

    halfgrad.check(kernel, reference=reference, inputs=[("m", "n"), ("m", "n")], dims=FEW,
                   least=(1, 1, 0), empty=False).assert_ok()
