"""Data sets, loaders, files and checkpoints."""

import numpy as np
import pytest

import halfgrad as hg
from halfgrad import data, io, nn, optim


def test_digits():
    images, labels = data.synthetic_digits(20, seed=1)
    assert images.shape == (20, 28, 28) and images.dtype == hg.uint8
    assert labels.shape == (20,) and labels.dtype == hg.int64
    assert 0 <= labels.min().item() and labels.max().item() <= 9


def test_a_loader_shuffles_by_seed_and_epoch():
    dataset = data.TensorDataset(hg.arange(10), hg.arange(10) * 2)
    loader = data.DataLoader(dataset, batch_size=4, shuffle=True, seed=3)
    assert len(loader) == 3 and len(dataset) == 10
    first = [x.tolist() for x, _ in loader]
    second = [x.tolist() for x, _ in loader]
    assert sum(first, []) == loader.order(0) and sum(second, []) == loader.order(1)
    assert first != second
    loader.set_epoch(0, first_batch=1)
    assert [x.tolist() for x, _ in loader] == first[1:]
    assert all((y == 2 * x).all() for x, y in loader)


class Squares:
    """A data set in Python, which the loader's thread calls."""

    def __len__(self):
        return 10

    def get_batch(self, indices):
        x = hg.tensor(indices)
        return x, x * x + hg.rand(1).long()


@pytest.mark.parametrize("prefetch", [0, 2])
def test_data_sets_in_python(prefetch):
    loader = data.DataLoader(Squares(), batch_size=4, prefetch=prefetch)
    assert [y.tolist() for _, y in loader] == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]]


def test_errors_of_a_data_set_reach_the_loop():
    class Bad(Squares):
        def get_batch(self, indices):
            raise LookupError("no sample")

    with pytest.raises(LookupError, match="no sample"):
        list(data.DataLoader(Bad()))
    with pytest.raises(TypeError, match="with __len__ and get_batch"):
        data.DataLoader([1, 2])


def test_a_loop_may_end_early():
    for _ in data.DataLoader(Squares(), batch_size=2, prefetch=4):
        break


def test_files(tmp_path):
    tensors = {"a": hg.arange(6).reshape(2, 3), "b": hg.randn(3, dtype=hg.float16)}
    io.save_safetensors(tmp_path / "x.safetensors", tensors, {"note": "hello"})
    loaded, metadata = io.load_safetensors(tmp_path / "x.safetensors")
    assert metadata == {"note": "hello"}
    io.save_npz(tmp_path / "x.npz", tensors)
    for found in (loaded, io.load_npz(tmp_path / "x.npz")):
        assert sorted(found) == ["a", "b"]
        assert all(hg.equal(found[name], tensors[name]) for name in tensors)
    with np.load(tmp_path / "x.npz") as arrays:
        assert np.array_equal(arrays["a"], tensors["a"].numpy())
    np.save(tmp_path / "x.npy", np.ones((2, 2)))
    assert io.load_npy(tmp_path / "x.npy").dtype == hg.float64
    io.save_npy(tmp_path / "y.npy", tensors["a"])
    assert np.load(tmp_path / "y.npy").tolist() == [[0, 1, 2], [3, 4, 5]]


def test_broken_files_raise_format_errors(tmp_path):
    (tmp_path / "bad").write_bytes(b"nonsense")
    with pytest.raises(io.FormatError, match="load_safetensors: expected .* at byte"):
        io.load_safetensors(tmp_path / "bad")
    with pytest.raises(RuntimeError, match="no such file"):
        io.load_npy(tmp_path / "none.npy")


class Run:
    """All that a training run needs to continue."""

    def __init__(self):
        hg.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
        self.optimizer = optim.AdamW(self.model.parameters(), lr=0.01)
        self.scheduler = optim.lr_scheduler.ExponentialLR(self.optimizer, 0.9)
        self.scaler = hg.amp.GradScaler()

    def parts(self):
        return {"model": self.model, "optimizer": self.optimizer, "scheduler": self.scheduler,
                "scaler": self.scaler, "random": hg.default_generator()}

    def step(self):
        self.optimizer.zero_grad()
        with hg.autocast("cpu"):
            loss = self.model(hg.randn(16, 4)).square().mean()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.scheduler.step()
        return loss.item()


def test_a_resumed_run_has_the_same_losses(tmp_path):
    path = tmp_path / "run.safetensors"
    run = Run()
    for _ in range(3):
        run.step()
    checkpoint = io.Checkpoint()
    for name, part in run.parts().items():
        checkpoint.write(name, part)
    checkpoint.write("step", 3)
    checkpoint.write("task", "squares")
    io.save_checkpoint(path, checkpoint)
    expected = [run.step() for _ in range(3)]

    resumed = Run()
    loaded = io.load_checkpoint(path)
    for name, part in resumed.parts().items():
        loaded.read(name, part)
    assert loaded.integer("step") == 3 and loaded.text("task") == "squares"
    assert [resumed.step() for _ in range(3)] == expected
