"""Training in threads: losses do not depend on what other threads do."""

import threading

import halfgrad as hg
from halfgrad import nn


def trained(seed):
    state = hg.arange(12).reshape(3, 4) * 0.1 + seed
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    with hg.no_grad():
        model[0].weight.copy_(state)
        model[0].bias.zero_()
        model[2].weight.fill_(0.5)
        model[2].bias.zero_()
    optimizer, scaler = hg.optim.Adam(model.parameters(), lr=0.05), hg.amp.GradScaler()
    seen, losses = [], []
    model[1].register_forward_hook(lambda module, args, output: seen.append(output.shape))
    x = hg.linspace(-1, 1, 32).reshape(8, 4)
    for _ in range(10):
        with hg.autocast("cpu"):
            loss = nn.functional.mse_loss(model(x), x[:, :1])
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert len(seen) == 10
    return losses


def test_threads_train_models_of_their_own():
    expected = [trained(seed) for seed in range(4)]
    results = [None] * 4

    def work(seed):
        results[seed] = trained(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == expected


def test_modes_belong_to_their_thread():
    seen = []
    with hg.no_grad():
        thread = threading.Thread(target=lambda: seen.append(hg.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]
