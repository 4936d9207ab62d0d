"""optim.swa_utils: averages of weights, and the running statistics of batch norm for them."""

import copy

import pytest

import halfgrad as hg
from halfgrad import nn
from halfgrad.optim.swa_utils import (AveragedModel, get_ema_avg_fn, get_ema_multi_avg_fn,
                                      get_swa_avg_fn, get_swa_multi_avg_fn, update_bn)


def values(tensor):
    return tensor.flatten().tolist()


def model_of(value):
    model = nn.Linear(2, 1, bias=False)
    with hg.no_grad():
        model.weight.fill_(value)
    return model


def test_averages_are_means():
    average = AveragedModel(model_of(100))
    for value in (1, 2, 6):
        average.update_parameters(model_of(value))
    assert values(average.module.weight) == [3, 3]
    assert average.n_averaged.item() == 3
    assert average.n_averaged.dtype == hg.int64
    assert values(average(hg.ones(1, 2))) == [6]


def test_averages_may_be_exponential():
    average = AveragedModel(model_of(100), avg_fn=get_ema_avg_fn(0.75))
    for value in (8, 4):
        average.update_parameters(model_of(value))
    assert values(average.module.weight) == [7, 7]
    with pytest.raises(ValueError, match="expected decay in \\[0, 1\\], got 1.5"):
        get_ema_avg_fn(1.5)


def test_a_function_of_the_user_is_called_from_the_second_value_on():
    counts = []

    def largest(averaged, current, num_averaged):
        counts.append(num_averaged.item())
        return averaged.maximum(current)

    average = AveragedModel(model_of(100), avg_fn=largest)
    for value in (5, 3):
        average.update_parameters(model_of(value))
    assert values(average.module.weight) == [5, 5]
    assert counts == [0, 1]


def test_averages_of_lists_are_those_of_tensors():
    def averaged(dtype, **options):
        hg.manual_seed(1)
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).to(dtype)
        average = AveragedModel(model, use_buffers=True, **options)
        for _ in range(3):
            with hg.no_grad():
                for tensor in [*model.parameters(), model[1].running_mean]:
                    tensor.normal_()
            average.update_parameters(model)
        return average.state_dict()

    for one, many in ((get_swa_avg_fn(), get_swa_multi_avg_fn()),
                      (get_ema_avg_fn(0.75), get_ema_multi_avg_fn(0.75))):
        for dtype in (hg.float32, hg.float16):
            expected, got = averaged(dtype, avg_fn=one), averaged(dtype, multi_avg_fn=many)
            assert all(hg.equal(expected[name], got[name]) for name in expected)
            assert got["module.0.weight"].dtype == dtype
    with pytest.raises(ValueError, match="expected avg_fn or multi_avg_fn, got both"):
        AveragedModel(model_of(1), avg_fn=get_swa_avg_fn(), multi_avg_fn=get_swa_multi_avg_fn())


def test_arguments_have_the_positions_of_pytorch():
    average = AveragedModel(nn.BatchNorm1d(2), None, None, get_ema_multi_avg_fn(), True)
    assert average.use_buffers and average.multi_avg_fn is not None


def test_the_model_keeps_its_parameters():
    model = model_of(1)
    average = AveragedModel(model)
    average.update_parameters(model_of(3))
    assert values(model.weight) == [1, 1]
    assert model.weight.requires_grad
    assert average.module.weight is not model.weight


def test_buffers_are_copied_or_averaged():
    for use_buffers, expected in ((False, [4.0]), (True, [2.0])):
        norm = nn.BatchNorm1d(1)
        average = AveragedModel(norm, use_buffers=use_buffers)
        for value in (0, 4):
            norm.running_mean.fill_(value)
            average.update_parameters(norm)
        assert values(average.module.running_mean) == expected


def test_sixteen_bits_are_averaged_in_float32():
    weights = [1.0, 1.0009765625, 1.0]
    models = [model_of(w).to(hg.float16) for w in weights]
    average = AveragedModel(models[0])
    for model in models:
        average.update_parameters(model)
    assert average.module.weight.dtype == hg.float16


def test_the_state_is_saved():
    average = AveragedModel(model_of(1))
    average.update_parameters(model_of(3))
    other = AveragedModel(model_of(0))
    other.load_state_dict(average.state_dict())
    other.update_parameters(model_of(5))
    assert values(other.module.weight) == [4, 4]
    assert sorted(average.state_dict()) == ["module.weight", "n_averaged"]


def test_another_structure_is_refused():
    average = AveragedModel(model_of(1))
    with pytest.raises(ValueError, match="expected a model with 1 parameters, got 2"):
        average.update_parameters(nn.Linear(2, 1))
    with pytest.raises(ValueError, match="parameters of shape \\(1, 2\\) at position 0"):
        average.update_parameters(nn.Linear(3, 1, bias=False))
    assert average.n_averaged.item() == 0


def test_statistics_are_plain_averages_over_the_batches():
    model = nn.Sequential(nn.BatchNorm1d(1, momentum=0.9), nn.Dropout(0.5))
    norm = model[0]
    model.eval()
    norm.train()
    norm.running_mean.fill_(50)
    batches = [hg.tensor([[1.0], [3.0]]), hg.tensor([[5.0], [9.0]])]
    update_bn(batches, model)
    assert values(norm.running_mean) == [4.5]
    assert values(norm.running_var) == [5]
    assert norm.num_batches_tracked.item() == 2
    assert [model.training, norm.training, model[1].training] == [False, True, False]
    # The momentum acts again afterwards.
    norm(hg.tensor([[0.0], [0.0]]))
    assert values(norm.running_mean) == pytest.approx([0.45])


def test_batches_may_be_pairs():
    norm = nn.BatchNorm1d(1)
    update_bn([(hg.tensor([[1.0], [3.0]]), "label")], norm, device="cpu")
    assert values(norm.running_mean) == [2]


def test_modes_come_back_after_an_exception():
    norm = nn.BatchNorm1d(1).eval()
    with pytest.raises(ValueError):
        update_bn([hg.ones(2, 3)], norm)
    assert not norm.training
    norm.train()
    norm.running_mean.zero_()
    norm(hg.tensor([[1.0], [1.0]]))
    assert values(norm.running_mean) == pytest.approx([0.1])


def test_no_batch_is_read_without_batch_norms():
    def loader():
        raise AssertionError("read")
        yield

    update_bn(loader(), nn.Linear(1, 1))
    update_bn(loader(), nn.BatchNorm1d(1, track_running_stats=False))


def test_copies_and_functions():
    assert get_swa_avg_fn()(hg.tensor([1.0]), hg.tensor([4.0]), hg.tensor(2)).item() == 2
    average = AveragedModel(model_of(1))
    assert values(copy.deepcopy(average).module.weight) == [1, 1]
