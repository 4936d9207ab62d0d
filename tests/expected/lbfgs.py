"""Writes lbfgs.json: steps of LBFGS in f64 on two problems. PyTorch 2.15.0.

    python lbfgs.py

"rosenbrock" is Rosenbrock's function of a vector of 4 from (-1.2, 1, -1.2, 1). "logistic" is logistic regression
with weights [2, 3] and biases [2] from 0 on 12 points of integers. A row of `params` holds all parameters after a step.
"""

import torch

import expected

STEPS = 8

RUNS = [
    dict(problem="rosenbrock", options=dict(line_search_fn="strong_wolfe")),
    dict(problem="rosenbrock", options=dict(line_search_fn="strong_wolfe", history_size=2, max_iter=5)),
    dict(problem="rosenbrock", options=dict(line_search_fn="strong_wolfe", lr=0.1, max_iter=4, max_eval=5)),
    dict(problem="rosenbrock", options=dict(lr=0.01, max_iter=3)),
    dict(problem="logistic", options=dict()),
    dict(problem="logistic", options=dict(line_search_fn="strong_wolfe", history_size=3)),
    dict(problem="logistic", options=dict(line_search_fn="strong_wolfe", max_iter=2, maximize=True)),
]


def points():
    """Returns inputs [12, 3] and classes [12], which the test computes as well."""
    rows = [[(i * 5 + j * 3) % 7 - 3.0 for j in range(3)] for i in range(12)]
    return torch.tensor(rows, dtype=torch.float64), torch.tensor([(i * i) % 5 % 2 for i in range(12)])


def problem(name):
    if name == "rosenbrock":
        x = torch.nn.Parameter(torch.tensor([-1.2, 1.0, -1.2, 1.0], dtype=torch.float64))
        return [x], lambda: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    weight = torch.nn.Parameter(torch.zeros(2, 3, dtype=torch.float64))
    bias = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    x, y = points()
    # The penalty makes the minimum finite.
    return [weight, bias], lambda: (
        torch.nn.functional.cross_entropy(x @ weight.T + bias, y) + 0.01 * (weight**2).sum()
    )


def run(name, options):
    params, loss_of = problem(name)
    sign = -1 if options.get("maximize") else 1
    optimizer = torch.optim.LBFGS(params, **options)

    def closure():
        optimizer.zero_grad()
        loss = sign * loss_of()
        loss.backward()
        return loss

    losses, rows = [], []
    for _ in range(STEPS):
        losses.append(optimizer.step(closure).item())
        rows.append(torch.cat([p.detach().flatten() for p in params]).tolist())
    state = optimizer.state[params[0]]
    return dict(
        problem=name,
        options=options,
        losses=losses,
        params=rows,
        n_iter=state["n_iter"],
        func_evals=state["func_evals"],
    )


def main():
    expected.write("lbfgs.json", runs=[run(each["problem"], each["options"]) for each in RUNS])


if __name__ == "__main__":
    main()
