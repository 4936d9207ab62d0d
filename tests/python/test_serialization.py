"""Pickles, copies, save() and load()."""

import copy
import io
import os
import pickle
import stat

import pytest

import halfgrad as hg
from halfgrad import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(6, 4, padding_idx=0)
        self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.LayerNorm(4, eps=1e-3), nn.Dropout(0.2)])
        self.norm = nn.BatchNorm1d(4, momentum=0.3)
        self.head = nn.Linear(4, 6, bias=False)
        self.head.weight = self.table.weight
        self.register_buffer("shift", hg.ones(4))
        self.settings = {"name": "net"}

    def forward(self, tokens):
        x = self.table(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x) + self.shift)


@pytest.mark.parametrize("dtype", [hg.float16, hg.bfloat16, hg.float32, hg.float64, hg.int64,
                                   hg.bool])
def test_tensors_are_pickled_bit_by_bit(dtype):
    x = (hg.arange(6).reshape(2, 3) > 2).to(dtype).t()
    y = pickle.loads(pickle.dumps(x))
    assert y.dtype == dtype and y.shape == (3, 2) and hg.equal(x, y)
    empty = pickle.loads(pickle.dumps(hg.zeros(0, 3)))
    assert empty.shape == (0, 3)


def test_copies_keep_requires_grad_and_grad():
    x = nn.Parameter(hg.ones(2))
    (x * 3).sum().backward()
    y = copy.deepcopy(x)
    assert isinstance(y, nn.Parameter) and y.grad.tolist() == [3, 3] and not y.is_same(x)
    y.grad.zero_()
    assert x.grad.tolist() == [3, 3]
    both = copy.deepcopy([x, x])
    assert both[0] is both[1]
    with pytest.raises(RuntimeError, match="deepcopy: expected a leaf, got the result of mul"):
        copy.deepcopy(x * 2)
    assert pickle.loads(pickle.dumps(hg.float16)) == hg.float16
    assert pickle.loads(pickle.dumps(hg.device("cpu"))) == hg.device("cpu")


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_modules_are_copied_with_ties_modes_and_settings(duplicate):
    net = Net()
    net(hg.tensor([1, 2, 3]))
    net.eval()
    before = hg.get_rng_state()
    other = duplicate(net)
    assert hg.equal(hg.get_rng_state(), before)
    tokens = hg.tensor([0, 5])
    assert hg.equal(net(tokens), other(tokens)) and repr(other) == repr(net)
    assert other.head.weight is other.table.weight and not other.training
    assert other.settings == net.settings and other.settings is not net.settings
    assert list(other.state_dict()) == list(net.state_dict())
    with hg.no_grad():
        other.head.weight.zero_()
    assert net.head.weight.abs().sum().item() > 0
    other.train()(tokens)
    assert other.norm.num_batches_tracked.item() == 2 and net.norm.num_batches_tracked.item() == 1


def test_removed_parameters_stay_removed_in_a_copy():
    layer = nn.LayerNorm(3)
    layer.bias = None
    assert copy.deepcopy(layer).bias is None and list(copy.copy(layer).state_dict()) == ["weight"]
    assert copy.copy(layer).weight is layer.weight


def test_states_of_a_run_are_saved_and_loaded(tmp_path):
    net = nn.Linear(3, 2)
    optimizer, scaler = hg.optim.AdamW(net.parameters(), lr=0.1), hg.amp.GradScaler(init_scale=8.0)
    scheduler = hg.optim.lr_scheduler.StepLR(optimizer, 1)
    scaler.scale(net(hg.ones(1, 3)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()
    path = tmp_path / "run.pt"
    hg.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(),
             "scaler": scaler.state_dict(), "scheduler": scheduler.state_dict()}, path)
    saved = hg.load(path, map_location="cpu")
    assert hg.equal(saved["net"]["weight"], net.weight)
    assert saved["scaler"] == scaler.state_dict() and saved["scheduler"]["last_epoch"] == 1
    other = hg.optim.AdamW(nn.Linear(3, 2).parameters(), lr=1.0)
    other.load_state_dict(saved["optimizer"])
    assert other.param_groups[0]["lr"] == pytest.approx(0.01)
    assert [file.name for file in tmp_path.iterdir()] == ["run.pt"]


def test_files_keep_their_modes_and_links(tmp_path):
    def mode(path):
        return stat.S_IMODE(os.stat(path).st_mode)

    before = os.umask(0o022)
    try:
        hg.save(hg.ones(3), tmp_path / "new")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o644
    os.chmod(tmp_path / "new", 0o664)
    os.symlink(tmp_path / "new", tmp_path / "link")
    hg.save(hg.zeros(2), tmp_path / "link")
    assert os.path.islink(tmp_path / "link") and mode(tmp_path / "new") == 0o664
    assert hg.load(tmp_path / "new").tolist() == [0, 0]
    assert sorted(os.listdir(tmp_path)) == ["link", "new"]
    with pytest.raises(RuntimeError, match="replace_file: expected to write"):
        hg.save(hg.ones(3), tmp_path / "missing" / "file")


def test_bools_of_other_bytes_are_refused():
    good = pickle.dumps(hg.tensor([True, False, True]))
    assert pickle.loads(good).tolist() == [True, False, True]
    changed = good.replace(b"\x01\x00\x01", b"\x02\x00\x01")
    assert changed != good
    with pytest.raises(ValueError, match="expected bytes 0 and 1 for a bool tensor"):
        hg.load(io.BytesIO(changed))


def test_load_runs_no_foreign_code(tmp_path):
    class Evil:
        def __reduce__(self):
            return print, ("run",)

    with pytest.raises(pickle.UnpicklingError, match="got builtins.print; load a file that you"):
        hg.load(io.BytesIO(pickle.dumps(Evil())))
    path = tmp_path / "model.pt"
    hg.save(nn.Linear(2, 2), path)
    with pytest.raises(pickle.UnpicklingError, match="got halfgrad.nn.state.rebuild"):
        hg.load(path)
    assert hg.load(path, weights_only=False).in_features == 2
    with pytest.raises(ValueError, match="expected 8 bytes for a float32 of shape"):
        hg.Tensor._from_bytes(b"", (2,), hg.float32)
