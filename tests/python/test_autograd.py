"""Gradients, hooks, modes and functions of one's own."""

import threading

import pytest

import halfgrad as hg


def leaf(*values):
    return hg.tensor(list(values), requires_grad=True)


def test_backward_accumulates():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5, 7]
    x.grad = None
    assert x.grad is None
    (x * 2).backward(hg.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2, 20]


def test_grad_and_second_derivatives():
    x = leaf(2.0)
    (first,) = hg.autograd.grad((x ** 3).sum(), x, create_graph=True)
    assert first.tolist() == [12]
    (second,) = hg.autograd.grad(first.sum(), x)
    assert second.tolist() == [12]
    unused = hg.autograd.grad((x * 1).sum(), [x, leaf(1.0)], allow_unused=True)
    assert unused[0].tolist() == [1] and unused[1] is None
    with pytest.raises(RuntimeError, match="grad"):
        hg.autograd.grad((x * 1).sum(), leaf(1.0))


def test_a_freed_graph_and_changed_values_raise():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()
    z = x * 1
    w = z * z
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an in-place operation"):
        w.backward(hg.ones(1))


def test_modes_as_regions_and_decorators():
    x = leaf(1.0)
    with hg.no_grad():
        assert not (x * 2).requires_grad and not hg.is_grad_enabled()
        with hg.enable_grad():
            assert (x * 2).requires_grad
    assert hg.is_grad_enabled()

    @hg.no_grad()
    def doubled(value):
        """Doubles."""
        return value * 2

    assert not doubled(x).requires_grad and doubled.__doc__ == "Doubles."
    with hg.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    with pytest.raises(KeyError), hg.no_grad():
        raise KeyError
    assert hg.is_grad_enabled()
    with hg.inference_mode():
        y = x * 2
    with pytest.raises(RuntimeError):
        x * y


def test_anomaly_detection_names_the_op():
    x = leaf(-1.0)
    with pytest.raises(RuntimeError, match="sqrt"), hg.autograd.detect_anomaly():
        (x.sqrt() * 0).sum().backward()


def test_hooks_replace_gradients_and_can_be_removed():
    x = leaf(1.0)
    seen = []
    handle = x.register_hook(lambda gradient: seen.append(gradient.tolist()))
    doubling = x.register_hook(lambda gradient: gradient * 2)
    (x * 3).sum().backward()
    assert seen == [[3]] and x.grad.tolist() == [6]
    handle.remove()
    doubling.remove()
    (x * 3).sum().backward()
    assert seen == [[3]] and x.grad.tolist() == [9]


def test_an_exception_in_a_hook_reaches_the_caller():
    def fail(gradient):
        raise ZeroDivisionError("from the hook")

    x = leaf(1.0)
    x.register_hook(fail)
    with pytest.raises(ZeroDivisionError, match="from the hook"):
        (x * 2).sum().backward()


class Cube(hg.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * x * scale

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x * x * (3 * ctx.scale), None


def test_function():
    x = leaf(1.0, 2.0)
    y = Cube.apply(x, 10)
    assert y.grad_fn == "Cube" and y.tolist() == [10, 80]
    y.sum().backward()
    assert x.grad.tolist() == [30, 120]


def test_function_with_several_outputs():
    class Split(hg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, first, second):
            assert second is None
            return first * 5

    x = leaf(1.0)
    first, second = Split.apply(x)
    first.sum().backward()
    assert x.grad.tolist() == [5]


def test_function_errors():
    class Bad(hg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            return gradient, gradient, gradient

    with pytest.raises(RuntimeError, match="Bad::backward: expected 1 gradients"):
        Bad.apply(leaf(1.0)).sum().backward()
    with pytest.raises(NotImplementedError):
        hg.autograd.Function.apply(leaf(1.0))


def test_checkpoint_runs_the_function_twice():
    calls = []

    def block(x):
        calls.append(1)
        return x.exp()

    x = leaf(0.0)
    y = hg.utils.checkpoint.checkpoint(block, x)
    y.sum().backward()
    assert len(calls) == 2 and x.grad.tolist() == [1]


def test_other_threads_run_during_long_calls():
    """A thread that only counts makes progress while this one multiplies matrices."""
    stop = threading.Event()
    counted = [0]

    def count():
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    x = hg.randn(1200, 1200)
    before = counted[0]
    y = x @ x
    during = counted[0] - before
    stop.set()
    thread.join()
    assert y.shape == (1200, 1200) and during > 100


def test_hooks_run_in_the_thread_that_calls_backward():
    def work():
        x = leaf(1.0)
        names = []
        x.register_hook(lambda gradient: names.append(threading.current_thread().name))
        (x * 2).sum().backward()
        results.append(names)

    results = []
    threads = [threading.Thread(target=work, name=f"worker {i}") for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [[f"worker {i}"] for i in range(4)]
