"""Data sets by index, samplers, collation and the loader of utils.data."""

import collections

import numpy as np
import pytest

import halfgrad as hg
from halfgrad.utils.data import (BatchSampler, ConcatDataset, DataLoader, Dataset, IterableDataset,
                                 RandomSampler, SequentialSampler, Subset, TensorDataset,
                                 default_collate, default_convert, random_split)

Pair = collections.namedtuple("Pair", "x y")


class Squares(Dataset):
    def __len__(self):
        return 7

    def __getitem__(self, index):
        return float(index), {"square": index * index, "name": str(index)}


def test_batches_are_collated_by_element():
    x, rest = next(iter(DataLoader(Squares(), batch_size=3)))
    assert x.dtype == hg.float64 and x.tolist() == [0, 1, 2]
    assert rest["square"].dtype == hg.int64 and rest["name"] == ["0", "1", "2"]
    pair = default_collate([Pair(np.float32(1), True), Pair(np.float32(2), False)])
    assert pair.x.dtype == hg.float32 and pair.y.tolist() == [True, False]
    assert default_collate([np.ones(2), np.zeros(2)]).shape == (2, 2)
    with pytest.raises(TypeError, match="default_collate: expected tensors.*got object"):
        default_collate([object()])


def test_lengths_and_last_batches():
    assert [len(x) for x, _ in DataLoader(Squares(), 3)] == [3, 3, 1]
    assert [len(x) for x, _ in DataLoader(Squares(), 3, drop_last=True)] == [3, 3]
    assert len(DataLoader(Squares(), 3)) == 3 and len(DataLoader(Squares(), 3, drop_last=True)) == 2
    assert [x for x, _ in DataLoader(Squares(), batch_size=None)] == [0, 1, 2, 3, 4, 5, 6]


def test_samplers():
    hg.manual_seed(3)
    shuffled = [int(v) for x, _ in DataLoader(Squares(), 2, shuffle=True) for v in x.tolist()]
    assert sorted(shuffled) == list(range(7)) and shuffled != list(range(7))
    assert list(BatchSampler(SequentialSampler(range(5)), 2, False)) == [[0, 1], [2, 3], [4]]
    assert len(list(RandomSampler(range(5), replacement=True, num_samples=20))) == 20
    orders = []
    for _ in range(2):
        generator = hg.Generator().manual_seed(5)
        before = hg.get_rng_state()
        loader = DataLoader(range(9), 9, shuffle=True, generator=generator, num_workers=2)
        orders.append([next(iter(loader)).tolist() for _ in range(2)])
        assert hg.equal(hg.get_rng_state(), before)
    assert orders[0] == orders[1] and orders[0][0] != orders[0][1]
    picked = DataLoader(Squares(), batch_sampler=[[6, 0], [1]])
    assert [x.tolist() for x, _ in picked] == [[6, 0], [1]] and len(picked) == 2
    with pytest.raises(ValueError, match="shuffle or a sampler"):
        DataLoader(Squares(), shuffle=True, sampler=[0])


def test_more_samples_than_there_are():
    sampler = RandomSampler(range(3), num_samples=7)
    order = list(sampler)
    assert len(sampler) == len(order) == 7
    assert sorted(order[:3]) == sorted(order[3:6]) == [0, 1, 2] and order[6] in (0, 1, 2)
    assert len(list(RandomSampler(range(3), num_samples=2))) == 2
    assert list(RandomSampler([])) == []
    for count in (0, -1, 2.0):
        with pytest.raises(ValueError, match="num_samples: expected an int of at least 1"):
            RandomSampler(range(3), num_samples=count)


@pytest.mark.parametrize("options, match", [
    ({"batch_size": 0}, "batch_size: expected an int of at least 1, got 0"),
    ({"batch_sampler": [[0], [1]], "batch_size": 3}, "expected a batch_sampler alone"),
    ({"batch_sampler": [[0], [1]], "sampler": [0]}, "expected a batch_sampler alone"),
    ({"batch_sampler": [[0], [1]], "drop_last": True}, "expected a batch_sampler alone"),
    ({"batch_size": None, "drop_last": True}, "expected a batch_size for drop_last"),
    ({"num_workers": -1}, "expected num_workers and timeout of at least 0, got -1"),
    ({"timeout": -1}, "expected num_workers and timeout of at least 0"),
    ({"prefetch_factor": 2}, "expected num_workers for prefetch_factor"),
    ({"persistent_workers": True}, "expected num_workers for prefetch_factor")])
def test_contradictory_arguments(options, match):
    with pytest.raises(ValueError, match=match):
        DataLoader(Squares(), **options)


def test_batches_have_a_size():
    with pytest.raises(ValueError, match="BatchSampler: batch_size: expected an int"):
        BatchSampler(range(3), 0, False)


def test_samples_without_a_batch_are_tensors():
    def only(sample):
        return next(iter(DataLoader([sample], batch_size=None)))

    x = only(np.ones(2, np.float32))
    assert isinstance(x, hg.Tensor) and x.tolist() == [1, 1]
    assert only(np.float64(2)).dtype == hg.float64
    pair = only(Pair(np.ones(1), 3))
    assert isinstance(pair, Pair) and pair.x.tolist() == [1] and pair.y == 3
    assert only({"a": [np.zeros(1)], "b": "text"})["a"][0].tolist() == [0]
    assert default_convert(np.array(["a"])).tolist() == ["a"]


def test_data_sets_of_data_sets():
    tensors = TensorDataset(hg.arange(4), hg.arange(4, 8))
    assert [t.item() for t in tensors[1]] == [1, 5] and len(tensors) == 4
    joined = Subset(tensors, [3, 0]) + tensors
    assert isinstance(joined, ConcatDataset) and len(joined) == 6
    assert [joined[i][0].item() for i in (0, 1, 2, -1)] == [3, 0, 0, 3]
    with pytest.raises(IndexError):
        joined[6]
    assert [t.tolist() for t in Subset(tensors, [3, 1])[[0, 1]]] == [[3, 1], [7, 5]]
    parts = random_split(tensors, [0.5, 0.5])
    assert sorted(i for part in parts for i in part.indices) == [0, 1, 2, 3]
    assert [len(part) for part in random_split(tensors, [3, 1])] == [3, 1]
    with pytest.raises(ValueError, match="random_split: expected lengths that sum to 4"):
        random_split(tensors, [3, 3])
    for lengths in ([0.3, 0.3], [0, 0], [5, -1], [1.5, 2.5]):
        with pytest.raises(ValueError, match="random_split: expected lengths that sum to 4"):
            random_split(tensors, lengths)
    with pytest.raises(ValueError, match="expected fractions in"):
        random_split(tensors, [1.5, -0.5])
    with pytest.warns(UserWarning, match="a subset is empty"):
        assert [len(part) for part in random_split(range(1), [0.5, 0.5])] == [1, 0]
    with pytest.raises(ValueError, match="one length"):
        TensorDataset(hg.ones(2), hg.ones(3))


def test_data_sets_without_a_length():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(range(5))

    assert [x.tolist() for x in DataLoader(Stream(), 2)] == [[0, 1], [2, 3], [4]]
    with pytest.raises(TypeError, match="with __len__"):
        len(DataLoader(Stream(), 2))
    with pytest.raises(ValueError, match="no shuffle"):
        DataLoader(Stream(), shuffle=True)


def test_iterable_data_sets_with_a_length():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(range(5))

        def __len__(self):
            return 5

    assert [x.tolist() for x in DataLoader(Stream(), 2)] == [[0, 1], [2, 3], [4]]
    assert len(DataLoader(Stream(), 2)) == 3 and len(DataLoader(Stream(), 2, drop_last=True)) == 2
    assert len(DataLoader(Stream(), batch_size=None)) == 5
    with pytest.raises(ValueError, match="no shuffle"):
        DataLoader(Stream(), shuffle=True)
