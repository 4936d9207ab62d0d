"""References between Python and C++ end when they should, and Python's exit is silent."""

import gc
import subprocess
import sys
import threading
import weakref

import numpy as np

import halfgrad as hg

# Cycles through C++ on the level of a module, as in a notebook.
PROGRAM = """
import halfgrad as hg
from halfgrad import nn

class Double(hg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
    def forward(self, x):
        return self.layer(x)

class Samples:
    def __len__(self):
        return 100
    def get_batch(self, indices):
        return hg.ones(len(indices)), hg.ones(len(indices))

net = Net()
x = hg.ones(3, requires_grad=True)
x.register_hook(lambda gradient: print("seen", x.shape))
net.register_full_backward_hook(lambda *arguments: print("back", net.training))
y = Double.apply(net(x))
y.sum().backward()
optimizer = hg.optim.Adam(net.parameters())
optimizer.register_step_pre_hook(lambda o: print("step", net.training))
optimizer.step()
schedules = []
schedule = hg.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (len(schedules) + 1))
schedules.append(schedule)
loader = hg.data.DataLoader(Samples(), prefetch=3)
batches = iter(loader)
next(batches)
region = hg.no_grad()
region.__enter__()
net.register_forward_hook(lambda module, args, output: print("hook", net.training))
net.layer.weight.owner = net
late = hg.optim.AsyncOptimizer(hg.optim.SGD(nn.Linear(1, 1).parameters(), lr=0.1))
late.step(lambda inner: print("late", late is not None))
graph = hg.cuda.CUDAGraph("cpu")
graph.capture(lambda: graph)
try:
    net(hg.ones(2, 2))
except ValueError as error:
    kept = error
array = x.detach().numpy()
capsule = x.detach().__dlpack__()
"""


def test_exit_is_silent():
    result = subprocess.run([sys.executable, "-X", "faulthandler", "-c", PROGRAM],
                            capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert sorted(result.stdout.splitlines()) == [
        "back True", "late True", "seen halfgrad.Size([3])", "step True"]


def test_shared_arrays_are_released():
    array = np.ones(4, np.float32)
    before = sys.getrefcount(array)
    for _ in range(10):
        hg.from_numpy(array)[0].item()
        hg.from_dlpack(array)
    gc.collect()
    assert sys.getrefcount(array) == before


def test_hooks_and_functions_are_released_with_their_tensor():
    class Hook:
        def __call__(self, gradient):
            return None

    x = hg.ones(2, requires_grad=True)
    hook = Hook()
    alive = weakref.ref(hook)
    handle = x.register_hook(hook)
    del hook
    gc.collect()
    assert alive() is not None
    handle.remove()
    del x, handle
    gc.collect()
    assert alive() is None


def test_modules_in_cycles_are_collected():
    class Net(hg.nn.Module):
        pass

    net = Net()
    net.itself = [net]
    net.layer = hg.nn.Linear(2, 2)
    token = hg.nn.Identity()
    net.token = token
    marker = type("Marker", (), {})()
    net.marker = marker
    alive = weakref.ref(marker)
    del net, marker
    gc.collect()
    assert alive() is None


def test_modules_with_hooks_and_attributes_of_parameters_are_collected():
    net = hg.nn.Linear(2, 2)
    net.register_forward_hook(lambda module, args, output: print(end=str(net)[:0]))
    net.weight.owner = net
    alive = weakref.ref(net.weight)
    net(hg.ones(1, 2)).sum().backward()
    del net
    gc.collect()
    assert alive() is None


def test_async_optimizers_end_with_their_steps():
    for _ in range(20):
        optimizer = hg.optim.AsyncOptimizer(
            hg.optim.SGD([hg.ones(1, requires_grad=True)], lr=0.1))
        optimizer.step(lambda inner: inner.step())
        del optimizer


def test_tensors_may_end_in_threads_of_cpp():
    """The loader's thread destroys batches that hold arrays of NumPy."""
    class Arrays:
        def __len__(self):
            return 50

        def get_batch(self, indices):
            array = np.ones(len(indices), np.float32)
            return hg.from_numpy(array), hg.from_numpy(array)

    for _ in range(5):
        for _, batch in zip(range(3), hg.data.DataLoader(Arrays(), prefetch=4)):
            assert batch[0].shape == (1,)


def test_many_threads_share_tensors():
    x = hg.ones(64, 64, requires_grad=True)

    def work():
        for _ in range(20):
            with hg.autocast("cpu"):
                y = (x @ x).sum()
            hg.autograd.grad(y, x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not hg.amp.is_autocast_enabled("cpu")
