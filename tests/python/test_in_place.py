"""Every method `name_` of a tensor gives the elements and gradients of the function `name`."""

import pytest

import halfgrad as hg

# Forms that draw random numbers, or change something other than elements by an op.
NO_FUNCTION = {
    "bernoulli_", "copy_", "detach_", "exponential_", "fill_diagonal_", "log_normal_", "normal_",
    "random_", "requires_grad_", "resize_", "resize_as_", "uniform_", "zero_", "fill_",
}
VIEWS = {"squeeze_": (0,), "unsqueeze_": (0,), "transpose_": (0, 1), "t_": (),
         "swapaxes_": (0, 1), "swapdims_": (0, 1)}


def elements():
    return hg.tensor([[0.25, 0.5], [0.75, 0.125]])


def mask():
    return hg.tensor([[True, False], [False, True]])


def index():
    return hg.tensor([[1, 0], [0, 1]])


def row():
    return hg.tensor([2.0, 0.5])


OTHER = hg.tensor([[0.5, 0.5], [2.0, 0.125]])
# Arguments of the forms that have any. A list has several calls.
ARGUMENTS = {
    "addbmm_": (hg.ones(3, 2, 2), hg.ones(3, 2, 2)), "addcdiv_": (OTHER, OTHER),
    "addcmul_": (OTHER, OTHER), "addmm_": (OTHER, OTHER), "addmv_": None, "addr_": (row(), row()),
    "baddbmm_": None, "clamp_": (0.2, 0.6), "clip_": (0.2, 0.6), "cumprod_": (0,), "cumsum_": (1,),
    "float_power_": None, "index_add_": (0, hg.tensor([1, 0]), OTHER),
    "index_copy_": (0, hg.tensor([1, 0]), OTHER), "index_fill_": (1, hg.tensor([0]), 3.0),
    "index_put_": ((hg.tensor([0, 1]), hg.tensor([1, 0])), row()), "lerp_": (OTHER, 0.25),
    "masked_fill_": (mask(), 2.0), "masked_scatter_": (mask(), OTHER), "polygamma_": (1,),
    "renorm_": (2, 0, 0.5), "scatter_": (0, index(), OTHER), "scatter_add_": (0, index(), OTHER),
    "scatter_reduce_": (0, index(), OTHER, "prod"), "where_": (mask(), OTHER),
    "logit_": [(), (0.3,)], "divide_": [(OTHER,), (2,)], "div_": [(OTHER,), (2,)],
}
OF_TWO = {
    "add_", "sub_", "mul_", "subtract_", "multiply_", "true_divide_", "pow_", "remainder_", "fmod_",
    "floor_divide_", "eq_", "ne_", "lt_", "le_", "gt_", "ge_", "not_equal_", "less_", "less_equal_",
    "greater_", "greater_equal_", "xlogy_", "copysign_", "clamp_min_", "clamp_max_",
}
OF_TWO_TENSORS = {"atan2_", "arctan2_", "hypot_", "heaviside_", "logical_and_", "logical_or_",
                  "logical_xor_"}
BITS = {"bitwise_and_", "bitwise_or_", "bitwise_xor_", "bitwise_left_shift_",
        "bitwise_right_shift_"}

NAMES = sorted(name for name in dir(hg.Tensor)
               if name.endswith("_") and not name.startswith("_")
               and name not in NO_FUNCTION | VIEWS.keys())


def calls(name):
    """Pairs of a tensor and the arguments of a call."""
    if name in OF_TWO:
        return [(elements(), (OTHER,)), (elements(), (0.5,))]
    if name in OF_TWO_TENSORS:
        return [(elements(), (OTHER,))]
    if name in BITS:
        return [(hg.tensor([5, 6, 12]), (hg.tensor([3, 1, 2]),)), (hg.tensor([5, 6, 12]), (2,))]
    if name == "bitwise_not_":
        return [(hg.tensor([5, -1]), ()), (hg.tensor([True, False]), ())]
    if name == "float_power_":
        return [(elements().double(), (OTHER,)), (elements().double(), (2,))]
    if name == "addmv_":
        return [(row(), (OTHER, row()))]
    if name == "baddbmm_":
        return [(hg.ones(3, 2, 2), (hg.ones(3, 2, 2), hg.ones(3, 2, 2)))]
    if name in ("acosh_", "arccosh_"):
        return [(elements() + 1, ())]
    if name in ("tril_", "triu_"):
        return [(elements(), (0,))]
    several = ARGUMENTS.get(name, ())
    return [(elements(), arguments) for arguments in (several if isinstance(several, list) else [several])]


def function_of(name):
    method = getattr(hg.Tensor, name[:-1], None)
    if method is not None:
        return method
    return getattr(hg, name[:-1])


@pytest.mark.parametrize("name", NAMES)
def test_a_form_in_place_is_its_function(name):
    for x, arguments in calls(name):
        expected = function_of(name)(x, *arguments)
        changed = x.clone()
        assert getattr(changed, name)(*arguments) is changed
        assert changed.dtype == x.dtype
        assert hg.allclose(changed, expected.to(x.dtype), rtol=0, atol=0, equal_nan=True), arguments


@pytest.mark.parametrize("name", NAMES)
def test_a_form_in_place_has_the_gradient_of_its_function(name):
    for x, arguments in calls(name):
        if not x.is_floating_point():
            continue
        gradients = []
        for in_place in (False, True):
            leaf = x.clone().requires_grad_()
            changed = leaf * 1
            if in_place:
                getattr(changed, name)(*arguments)
            else:
                changed = function_of(name)(changed, *arguments)
            total = (changed * hg.tensor([0.5, 2.0])).sum()
            gradients.append(hg.autograd.grad(total, leaf, materialize_grads=True)[0]
                             if total.requires_grad else hg.zeros_like(x))
        assert hg.allclose(*gradients, rtol=1e-6, atol=1e-6, equal_nan=True), arguments


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_a_view_in_place_is_its_function(name):
    x = hg.tensor([[1.0, 2.0]])
    expected = function_of(name)(x, *VIEWS[name])
    changed = x.clone()
    assert getattr(changed, name)(*VIEWS[name]) is changed
    assert changed.shape == expected.shape and hg.equal(changed, expected)


def test_a_leaf_and_a_dtype_that_cannot_hold_the_result_are_refused():
    leaf = elements().requires_grad_()
    for name in ("eq_", "sinh_", "cumsum_", "addr_"):
        _, arguments = calls(name)[0]
        with pytest.raises(RuntimeError, match=f"{name}: expected a tensor that is not a leaf"):
            getattr(leaf, name)(*arguments)
    for name in ("sinh_", "atan_", "rad2deg_"):
        with pytest.raises(ValueError, match=f"{name}: expected a result that int64 can hold"):
            getattr(hg.tensor([1, 2]), name)()
    with pytest.raises(RuntimeError, match="float_power_: expected float64, got float32"):
        elements().float_power_(2)
    with pytest.raises(RuntimeError, match="cumsum_: expected the dtype of the tensor"):
        elements().cumsum_(0, dtype=hg.float64)


def test_random_forms_follow_their_generator():
    def draw(name):
        return getattr(hg.empty(4), name)(generator=hg.Generator().manual_seed(3))

    for name in ("exponential_", "log_normal_"):
        assert hg.equal(draw(name), draw(name)) and bool((draw(name) > 0).all())
