"""Trains two steps with the installed Python package: the loss must fall."""

import halfgrad as hg

hg.manual_seed(0)
x, model = hg.randn(64, 8), hg.nn.Linear(8, 1)
optimizer = hg.optim.SGD(model.parameters(), lr=0.1)
scaler = hg.amp.GradScaler()
losses = []
for step in range(3):
    with hg.autocast("cpu", dtype=hg.bfloat16):
        loss = hg.nn.functional.mse_loss(model(x), x[:, :1])
    losses.append(loss.item())
    if step < 2:
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
assert losses[0] > losses[1] > losses[2], losses
print("python3-halfgrad: losses", losses)
