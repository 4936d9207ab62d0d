"""halfgrad.check(), its report, and halfgrad.cases()."""

import json
import os
import pickle
import signal
import sys

import numpy as np
import pytest

import halfgrad

FEW = [(3, 1, 37), (2, 1, 5)]


def softmax(x):
    wide = x.astype(np.float32)
    e = np.exp(wide - wide.max(axis=1, keepdims=True, initial=-np.inf))
    return (e / e.sum(axis=1, keepdims=True)).astype(x.dtype)


def forgets_the_second_tile(x):
    y = softmax(x)
    y[:, 32:] = 0
    return y


@pytest.mark.parametrize("dtype", ["float32", "fp16", np.float64, "bfloat16", halfgrad.float16])
def test_a_right_kernel_passes(dtype):
    checked = halfgrad.check(lambda a, b: a + b, "add", dtype=dtype)
    if checked.report["dtype"] == "bfloat16" and "ml_dtypes" not in sys.modules:
        assert not checked.passed  # sums of the bits
        return
    assert checked.passed and checked, checked
    checked.assert_ok()
    assert checked.findings == [] and "passed" in repr(checked)


def test_results_may_be_booleans_and_indices():
    assert halfgrad.check(lambda a, b: a == b, "eq").passed
    assert halfgrad.check(lambda a: np.isnan(a), "isnan", dtype="float16").passed
    assert not halfgrad.check(lambda a, b: a <= b, "eq", dims=FEW).passed
    largest = halfgrad.check(lambda x: x.argmax(axis=1), "argmax", dims=FEW)
    assert largest.passed, largest


def test_default_sizes_pass_for_softmax():
    halfgrad.check(softmax, "softmax", dtype="float16").assert_ok()


def test_wrong_elements_are_named():
    checked = halfgrad.check(forgets_the_second_tile, "softmax")
    assert not checked.passed and not checked
    (finding,) = checked.findings
    assert finding.fault == "wrong value"
    assert finding.pattern.startswith("columns 32 and above")
    assert "columns 32 and above" in repr(checked)
    with pytest.raises(AssertionError, match="columns 32 and above"):
        checked.assert_ok()
    assert json.loads(checked.to_json())["schema_version"] == 1
    worst = finding.places["worst"][0]
    assert worst["index"][1] >= 32 and worst["got"] == 0 and worst["used"] != 0


def test_the_page_of_a_notebook_has_a_histogram_and_a_map():
    page = halfgrad.check(forgets_the_second_tile, "softmax")._repr_html_()
    for part in ("<svg", "columns 32 and above", "part of the budget", "worst elements", "FAILED"):
        assert part in page
    assert "passed" in halfgrad.check(softmax, "softmax", dims=FEW)._repr_html_()


def test_arrays_share_the_guarded_memory():
    def writes_beyond(x, out):
        np.copyto(out, x * 0 + np.maximum(x, 0))
        np.lib.stride_tricks.as_strided(out.reshape(-1)[-1:], (2,), out.strides[-1:])[1] = 0

    def changes_its_input(x, out):
        out[...] = np.maximum(x, 0)
        x[...] = 1

    def forgets_the_last_column(x, out):
        out[:, :-1] = np.maximum(x, 0)[:, :-1]

    def faults(kernel):
        return [f.fault for f in halfgrad.check(kernel, "relu", out=True, dims=[(3, 7, 1)]).findings]

    assert "out of bounds" in faults(writes_beyond)
    assert "input changed" in faults(changes_its_input)
    unwritten = halfgrad.check(forgets_the_last_column, "relu", out=True, dims=[(3, 7, 1)])
    assert unwritten.findings[0].fault == "unwritten"
    assert unwritten.findings[0].pattern == "the last column"
    seen = set()
    layouts = ["contiguous", "padded_rows", "every_second", "transposed", "misaligned"]

    def notes_strides(x):
        seen.add(x.strides)
        return np.maximum(x, 0)

    halfgrad.check(notes_strides, "relu", dims=[(3, 7, 1)], layouts=layouts).assert_ok()
    assert {(28, 4), (40, 4), (56, 8), (4, 12)} <= seen


def test_in_place():
    def relu(x, out):
        np.maximum(x, 0, out=out)

    def reads_after_writing(x, out):
        out[...] = 0
        out[...] = np.maximum(x, 0)

    halfgrad.check(relu, "relu", out=True, in_place=True, dims=[(3, 7, 1)]).assert_ok()
    halfgrad.check(reads_after_writing, "relu", out=True, dims=[(3, 7, 1)]).assert_ok()
    assert not halfgrad.check(reads_after_writing, "relu", out=True, in_place=True, dims=[(3, 7, 1)])


def test_an_exception_is_a_finding_with_its_traceback():
    def raises(x):
        raise RuntimeError("no tile of that size")

    (finding,) = halfgrad.check(raises, "softmax", dims=FEW).findings
    assert finding.fault == "threw"
    assert finding.message.startswith("RuntimeError: no tile of that size\n")
    assert "in raises" in finding.message and "_run.py" not in finding.message


@pytest.mark.parametrize("result, text", [
    (lambda x: None, "returned None"),
    (lambda x: x[:1], "expected (2, 5), float32"),
    (lambda x: softmax(x).astype(np.float64), "float64; expected"),
])
def test_another_shape_or_dtype_is_a_finding(result, text):
    (finding,) = halfgrad.check(result, "softmax", dims=[(2, 1, 5)]).findings
    assert text in finding.message


def test_control_c_ends_the_check_with_what_was_found():
    calls = []

    def interrupted(x):
        calls.append(1)
        if len(calls) == 30:
            os.kill(os.getpid(), signal.SIGINT)
        return forgets_the_second_tile(x)

    checked = halfgrad.check(interrupted, "softmax", dims=FEW)
    assert not checked.passed and "interrupted after" in checked.report["unfinished"]
    assert checked.findings[0].pattern.startswith("columns 32 and above")

    calls.clear()
    right = halfgrad.check(lambda a, b: interrupted(a) * 0 + a + b, "add")
    assert not right.passed, "a check that was not finished"


def test_isolated_kernels_crash_and_hang_in_their_own_process():
    def ends(x):
        os._exit(0)

    def hangs(x):
        while True:
            pass

    def changes_its_input(x):
        x[...] = 0
        return x

    def finding(kernel):
        checked = halfgrad.check(kernel, "softmax", dims=FEW, isolate=True, timeout=1, shrink=False)
        return checked.findings[0]

    assert (finding(ends).fault, finding(ends).message) == ("crashed", "the kernel called exit(0)")
    assert finding(hangs).fault == "hung"
    assert finding(changes_its_input).fault == "input changed"
    halfgrad.check(softmax, "softmax", isolate=True, dims=FEW).assert_ok()


def test_contracts_and_sizes():
    half_sums = lambda x: np.add.accumulate(x, axis=1)[:, -1]  # noqa: E731
    options = {"dtype": "float16", "dims": [(3, 1, 257)]}
    assert not halfgrad.check(half_sums, "sum", **options)
    halfgrad.check(half_sums, "sum", accumulate="float16", **options).assert_ok()
    no_rows = lambda x: x.max(axis=1)  # noqa: E731
    halfgrad.check(no_rows, "amax").assert_ok()
    plain = lambda x: np.exp(x - x.max(axis=1, keepdims=True)) / np.exp(  # noqa: E731
        x - x.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)
    assert halfgrad.check(plain, "softmax").findings[0].fault == "threw"  # for k = 0
    halfgrad.check(plain, "softmax", empty=False).assert_ok()


@pytest.mark.parametrize("options", [
    {"dtype": "int3"}, {"layouts": "upright"}, {"without": "nothing"}, {"like": "lists"},
    {"dims": [(1, 2)]}, {"in_place": True}, {"isolate": True, "device": "cuda"},
    {"dims": [(-1, 1, 1)]}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ValueError):
        halfgrad.check(softmax, "softmax", **options)
    with pytest.raises(ValueError):
        halfgrad.check(softmax, "no such op")


def test_the_smallest_case_can_be_saved(tmp_path):
    path = tmp_path / "smallest.safetensors"
    checked = halfgrad.check(forgets_the_second_tile, "softmax")
    checked.save_case(path)
    header = path.read_bytes()[8:]
    assert b'"input0"' in header and b'"expected"' in header and b'"op":"softmax"' in header
    with pytest.raises(ValueError, match="smallest failing case"):
        halfgrad.check(softmax, "softmax", dims=FEW).save_case(path)


def test_results_can_be_pickled():
    checked = halfgrad.check(forgets_the_second_tile, "softmax", dims=FEW)
    copy = pickle.loads(pickle.dumps(checked))
    assert repr(copy) == repr(checked) and copy.findings == checked.findings and not copy


def test_reports_as_junit(tmp_path):
    path = tmp_path / "junit.xml"
    halfgrad.write_junit(path, [halfgrad.check(softmax, "softmax", dims=FEW),
                                halfgrad.check(forgets_the_second_tile, "softmax")])
    text = path.read_text()
    assert 'tests="2" failures="1" errors="0"' in text and '<failure type="wrong value"' in text


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_cases_judge_outputs_from_elsewhere(dtype):
    count = 0
    for case in halfgrad.cases("softmax", dtype=dtype, dims=FEW, seed=3):
        right = case.expected.astype(np.float32)
        if dtype == "bfloat16":  # cut to its 8 bits of significand: within budget
            right = (right.view(np.uint32) >> 16).astype(np.uint16)
        else:
            right = right.astype(dtype)
        assert len(case.inputs) == 1 and case.inputs[0].shape == case.expected.shape
        assert case.budget.shape == case.expected.shape and case.seed == 3
        checked = case.judge(right)
        assert not any(f.fault == "wrong value" for f in checked.findings), checked
        wrong = right.copy()
        wrong[0, -1] = 77
        if case.kind == "normal":
            assert f"element (0, {case.dims[2] - 1}) is" in repr(case.judge(wrong))
        count += 1
    assert count == 2 * 33
    with pytest.raises(ValueError, match="expected an output of"):
        case.judge(np.zeros((1, 1), np.float32))


def test_products_of_batches_may_have_other_columns_than_rows():
    dims = [(2, 3, 5, 4), (2, 3, 5)]
    cases = list(halfgrad.cases("bmm", dims=dims))
    assert {case.dims for case in cases} == set(dims)
    assert len({case.name for case in cases}) == len(cases)
    assert "k = 5, columns = 4, seed" in repr(cases[0])
    for case in cases:
        assert case.expected.shape == (2, 3, (case.dims + (3,))[3])
        with np.errstate(invalid="ignore", over="ignore"):
            judged = case.judge(np.matmul(*case.inputs))
        assert not judged.findings, judged

    def confuses_rows_and_columns(a, b):
        return np.matmul(a, b[..., :a.shape[1]]) if a.shape[1] <= b.shape[2] else a[..., :1] * b[:, :1]

    found = halfgrad.check(confuses_rows_and_columns, "bmm", dims=dims)
    assert found.report["smallest_case"]["dims"]["columns"] > 0, found


def softmax_of_columns(x):
    return softmax(x.T).T


def test_an_op_may_have_parameters():
    checked = halfgrad.check(softmax_of_columns, "softmax", dim=0, dims=FEW)
    assert checked.passed, checked
    assert checked.report["parameters"] == {"dim": 0} and "softmax with dim = 0" in repr(checked)
    assert not halfgrad.check(softmax, "softmax", dim=0, dims=FEW, shrink=False).passed
    case = next(halfgrad.cases("softmax", dim=0, dims=FEW))
    assert case.inputs[0].shape == case.expected.shape == (37, 3)
    squares = halfgrad.check(lambda x, t: (x - t) ** 2, "mse_loss", reduction="none", dims=FEW)
    assert squares.passed, squares


def test_a_saved_case_has_the_parameters(tmp_path):
    checked = halfgrad.check(softmax, "softmax", dim=0, dims=[(3, 1, 5)])
    checked.save_case(tmp_path / "case.safetensors")
    _, metadata = halfgrad.io.load_safetensors(tmp_path / "case.safetensors")
    assert metadata["parameters"] == '{"dim": 0}'


def test_a_parameter_that_the_op_does_not_have_is_refused():
    with pytest.raises(ValueError, match="softmax: expected no eps, which only these ops have: layer_norm"):
        halfgrad.check(softmax, "softmax", eps=1e-6)
    with pytest.raises(ValueError, match="expected none, mean or sum, got total"):
        halfgrad.check(softmax, "mse_loss", reduction="total")


def test_operands_may_have_their_own_dtypes():
    def scaled(x, scale):
        assert (x.dtype, scale.dtype) == (np.float16, np.float32)
        return (x.astype(np.float32) * scale).astype(np.float16)

    assert halfgrad.check(scaled, "mul", dtype="fp16", operand_dtypes={1: "fp32"}, dims=FEW).passed


def test_fp8_codes_are_uint8():
    def dequantize(codes, scale):  # e5m2 is the upper half of float16
        return (codes.astype(np.uint16) << 8).view(np.float16).astype(np.float32) * scale

    checked = halfgrad.check(dequantize, "dequantize_float8_e5m2", dims=FEW)
    assert checked.passed, checked
    zeros = halfgrad.check(lambda x, scale: np.zeros(x.shape, np.uint8), "quantize_float8_e4m3fn",
                           dims=FEW, shrink=False)
    assert not zeros.passed
