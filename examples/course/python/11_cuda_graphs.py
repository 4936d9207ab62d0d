"""Chapter 11: one training step in three ways, on a model of a GPU that counts launches and waits;
and halfgrad's own step in a graph. The same in CUDA is examples/course/11_cuda_graphs/steps.cu."""

import copy
import dataclasses
from collections.abc import Callable

import course
import numpy as np

import halfgrad as hg

STEPS, GROWTH_INTERVAL = 100, 20
FIRST_SCALE, FIRST_RATE, DECAY = np.float32(1024), np.float32(0.2), np.float32(0.98)


@dataclasses.dataclass
class State:
    """Everything that changes from step to step: a weight, its scaler, its schedule. In float32."""

    step: int = 0
    x: np.float32 = np.float32(0)
    y: np.float32 = np.float32(0)
    w: np.float32 = np.float32(0)
    scaled_gradient: np.float32 = np.float32(0)
    scale: np.float32 = FIRST_SCALE
    rate: np.float32 = FIRST_RATE
    found_inf: bool = False
    good_steps: int = 0
    skipped: int = 0

    def change_scale(self) -> None:
        if self.found_inf:
            self.scale *= np.float32(0.5)
            self.good_steps = 0
            self.skipped += 1
            return
        self.good_steps += 1
        if self.good_steps == GROWTH_INTERVAL:
            self.scale *= np.float32(2)
            self.good_steps = 0


Kernel = Callable[[State], None]


class Device:
    """A GPU with one stream: launches are queued, a read waits for all of them, a capture records."""

    def __init__(self) -> None:
        self.memory = State()
        self.queue: list[Kernel] = []
        self.captured: list[Kernel] | None = None
        self.launches = self.kernels = self.waits = 0

    def launch(self, kernel: Kernel) -> None:
        if self.captured is not None:
            self.captured.append(kernel)
            return
        self.launches += 1
        self.queue.append(kernel)

    def read(self) -> State:
        if self.captured is not None:
            raise RuntimeError("read: expected no wait during capture, got one; keep the value in device memory")
        self.waits += 1
        for kernel in self.queue:
            self.kernels += 1
            kernel(self.memory)
        self.queue = []
        return copy.copy(self.memory)

    def capture(self, step: Callable[[], None]) -> list[Kernel]:
        self.captured = []
        try:
            step()
            return self.captured
        finally:
            self.captured = None

    def launch_graph(self, graph: list[Kernel]) -> None:
        self.launches += 1
        self.queue += graph


def load_batch(s: State) -> None:
    s.x = np.float32(0.5 + 0.125 * (s.step % 4))
    s.y = np.float32(np.inf) if s.step == 30 else np.float32(3) * s.x
    s.step += 1


def backward(s: State, scale: np.float32) -> None:
    s.scaled_gradient = (s.w * s.x - s.y) * s.x * scale


def check(s: State) -> None:
    s.found_inf = not np.isfinite(s.scaled_gradient)


def update(s: State, scale: np.float32, rate: np.float32) -> None:
    s.w -= rate * (s.scaled_gradient / scale)


def update_unless_inf(s: State) -> None:
    if not s.found_inf:
        update(s, s.scale, s.rate)


def end_step(s: State) -> None:
    s.change_scale()
    s.rate *= DECAY


def host_step(device: Device, host: State) -> None:
    """The host keeps scale and learning rate, and must know found_inf before it can go on."""
    scale, rate = host.scale, host.rate
    device.launch(load_batch)
    device.launch(lambda s: backward(s, scale))
    device.launch(check)
    host.found_inf = device.read().found_inf  # waits
    if not host.found_inf:
        device.launch(lambda s: update(s, scale, rate))
    host.change_scale()
    host.rate *= DECAY


def device_step(device: Device) -> None:
    """The device keeps all of it, and decides by itself."""
    device.launch(load_batch)
    device.launch(lambda s: backward(s, s.scale))
    device.launch(check)
    device.launch(update_unless_inf)
    device.launch(end_step)


def step_with_argument(device: Device, rate: np.float32) -> None:
    """As device_step, but the learning rate is an argument: a value of the host."""
    device.launch(load_batch)
    device.launch(lambda s: backward(s, s.scale))
    device.launch(check)
    device.launch(lambda s: None if s.found_inf else update(s, s.scale, rate))
    device.launch(lambda s: s.change_scale())


def compare(chapter: course.Chapter) -> None:
    host = State()
    ways: dict[str, Callable[[Device], Callable[[], None]]] = {
        "host": lambda device: lambda: host_step(device, host),
        "device": lambda device: lambda: device_step(device),
        "graph": lambda device: (lambda graph: lambda: device.launch_graph(graph))(
            device.capture(lambda: device_step(device))),
    }
    for way, prepare in ways.items():
        device = Device()
        step = prepare(device)
        for _ in range(STEPS):
            step()
        launches, waits = device.launches, device.waits
        last = device.read()
        print(f"{way}:")
        chapter.fact(way + "_launches", launches)
        chapter.fact(way + "_kernels", device.kernels)
        chapter.fact(way + "_waits", waits)
        chapter.fact(way + "_weight", float(last.w))


def show_what_breaks(chapter: course.Chapter) -> None:
    print("What breaks a capture:")
    device = Device()
    graph = device.capture(lambda: step_with_argument(device, FIRST_RATE))
    for _ in range(STEPS):
        device.launch_graph(graph)
    chapter.fact("frozen_rate_weight", float(device.read().w))
    try:
        device.capture(lambda: host_step(device, State()))
    except RuntimeError as error:
        print(f"capturing a wait: {error}")


def train(with_graph: bool) -> tuple[hg.Tensor, int]:
    """Trains in fp16 for 40 steps; returns the first weight and the number of skipped steps."""
    device = "cuda" if hg.cuda.is_available() else "cpu"
    hg.manual_seed(0)
    model = hg.nn.Sequential(hg.nn.Linear(8, 32), hg.nn.ReLU(), hg.nn.Linear(32, 4)).to(device)
    optimizer = hg.optim.Adam(model.parameters(), lr=1e-2)
    scaler = hg.amp.GradScaler(init_scale=2.0**22, growth_interval=10)
    x = hg.zeros(16, 8, device=device)  # the address that kernels read
    target = hg.randn(16, 4).to(device)

    def step() -> None:
        optimizer.zero_grad()
        with hg.autocast(device):
            loss = hg.nn.functional.mse_loss(model(x), target)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    graph = hg.cuda.CUDAGraph(device)
    skipped = 0
    for i in range(40):
        x.copy_(hg.randn(16, 8).to(device))
        optimizer.param_groups[0]["lr"] = 1e-2 * (1 - i / 40)  # sent to the device before each step
        before = scaler.get_scale()
        if with_graph and i == 1:
            graph.capture(step)
        if with_graph and i >= 1:
            graph.replay()
        else:
            step()  # the first step allocates what later ones keep
        skipped += scaler.get_scale() < before
    return next(iter(model.parameters())).detach().to("cpu"), skipped


def main(chapter: course.Chapter) -> None:
    with np.errstate(invalid="ignore"):
        compare(chapter)
        show_what_breaks(chapter)
    eager, _ = train(False)
    replayed, skipped = train(True)
    print("halfgrad's own step, 40 times:")
    chapter.fact("graph_and_eager", "equal" if hg.equal(eager, replayed) else "differ")
    chapter.fact("skipped_steps", skipped)


if __name__ == "__main__":
    course.run(main, "11_cuda_graphs", "Counts launches and waits of a training step.")
