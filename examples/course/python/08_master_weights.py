"""Chapter 8, master weights: updates that a 16-bit weight cannot take, and a copy that can."""

import chart
import course
import halfgrad as hg
from halfgrad import amp, nn, optim


def first_change(gradient: float, with_master: bool, prints: bool = False) -> int:
    """The step in which an fp16 weight of 1 changes for the first time; 0: never."""
    weight = hg.ones(1, dtype=hg.float16).requires_grad_()
    optimizer = optim.SGD([weight], lr=1e-4)
    masters = amp.MasterWeights(optimizer) if with_master else None
    first = 0
    for step in range(1, 11):
        optimizer.zero_grad()
        (weight * gradient).sum().backward()
        optimizer.step()
        if weight.item() != 1 and not first:
            first = step
        if prints:
            master = f", master {masters.master(weight).item():.6f}" if masters else ""
            print(f"step {step:2}: fp16 weight {weight.item():.6f}{master}")
    return first


def train(steps: int, dtype: hg.dtype, with_masters: bool) -> tuple:
    """Trains a network 4-64-1 on a sine with plain SGD. Returns the losses, the share of weights
    that a step left as they were, and the last weights and updates."""
    hg.manual_seed(0)
    x = hg.rand(128, 4) * 2 - 1
    target = hg.sin(x @ hg.randn(4, 1) * 2)
    model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1)).to(dtype)
    x = x.to(dtype)
    parameters = list(model.parameters())
    optimizer = optim.SGD(parameters, lr=0.03)
    masters = amp.MasterWeights(optimizer) if with_masters else None
    unchanged = seen = 0
    before, losses = [], []
    for step in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x).float(), target)
        loss.backward()
        if step >= steps - 100:
            before = [parameter.detach().clone() for parameter in parameters]
        optimizer.step()
        losses.append(loss.item())
        for old, parameter in zip(before, parameters):
            unchanged += (parameter.detach() == old).sum().item()
            seen += old.numel()
    del masters
    updates = [parameter.detach() - old for old, parameter in zip(before, parameters)]
    return losses, 100 * unchanged / seen, before, updates


def percent_lost(weights: list, updates: list, dtype: hg.dtype) -> float:
    """Share of the fp32 updates that would vanish if the weights were of `dtype`."""
    lost = count = 0
    for weight, update in zip(weights, updates):
        rounded = weight.to(dtype)
        lost += ((rounded.float() + update).to(dtype) == rounded).sum().item()
        count += rounded.numel()
    return 100 * lost / count


def main(chapter: course.Chapter) -> None:
    print("A weight of 1 that should fall by 0.0001 in each of ten steps, with a master:")
    chapter.fact("first_change", first_change(1, with_master=True, prints=True))
    chapter.fact("first_change_up", first_change(-1, with_master=True))
    chapter.fact("first_change_alone", first_change(1, with_master=False))
    print(f"\n{chapter.steps} steps of SGD; the last loss, and the share of weights that a step left"
          " as they were:")
    kinds = [("fp32", hg.float32, False), ("fp16", hg.float16, False),
             ("fp16_master", hg.float16, True), ("bf16", hg.bfloat16, False),
             ("bf16_master", hg.bfloat16, True)]
    curves = []
    for name, dtype, with_masters in kinds:
        losses, unchanged, weights, updates = train(chapter.steps, dtype, with_masters)
        curves.append(chart.Series(name.replace("_", ", "), range(0, chapter.steps, 300),
                                   [round(loss * 100) / 100 for loss in losses[::300]],
                                   dashed=with_masters))
        chapter.fact(f"loss_{name}", round(losses[-1], 2))
        chapter.fact(f"unchanged_{name}", 5 * round(unchanged / 5))
        if name == "fp32":
            chapter.fact("lost_fp16", 10 * round(percent_lost(weights, updates, hg.float16) / 10))
            chapter.fact("lost_bf16", 10 * round(percent_lost(weights, updates, hg.bfloat16) / 10))
    chapter.picture("loss", chart.line_chart(
        chart.Chart("Loss by the dtype of the weights",
                    chart.Axis("step", low=0, high=chapter.steps),
                    chart.Axis("loss", low=0, high=0.5)), curves))


if __name__ == "__main__":
    course.run(main, slug="08_master_weights", steps=3000,
               does="Trains with 16-bit weights, with and without float32 masters.")
