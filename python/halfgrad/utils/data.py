"""Data sets by index, samplers and a loader that collates samples, as torch.utils.data.

halfgrad.data.DataLoader is the C++ loader: it takes whole batches from a data set, on its own
thread, and can resume inside an epoch.
"""

import bisect
import itertools
import math
import warnings
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Sized

from .._halfgrad import Generator, Tensor, stack, tensor
from ..extras import as_tensor
from .samplers import (BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler,
                       WeightedRandomSampler, batch_count, batches, expect_count, permutation)

__all__ = [
    "BatchSampler", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler",
    "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler",
    "TensorDataset", "WeightedRandomSampler", "default_collate", "default_convert", "get_worker_info",
    "random_split",
]


class Dataset:
    """A data set defines __getitem__(index) and __len__()."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: define __getitem__(index)")

    def __add__(self, other: "Dataset") -> "ConcatDataset":
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """A data set that defines __iter__(), and __len__() if it knows its length."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__}: define __iter__()")


class TensorDataset(Dataset):
    """Sample i is the tuple of row i of each tensor."""

    def __init__(self, *tensors: Tensor) -> None:
        lengths = {len(t) for t in tensors}
        if len(lengths) > 1:
            raise ValueError(f"TensorDataset: expected tensors of one length, got {lengths}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset):
    """Sample i is the tuple, or the dict by keyword, of the samples i of several data sets."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset: expected data sets by position or by keyword, got "
                             + ("both" if args else "none"))
        self.datasets: Any = args or kwargs
        lengths = {len(d) for d in (args or tuple(kwargs.values()))}
        if len(lengths) > 1:
            raise ValueError(f"StackDataset: expected data sets of one length, got {lengths}")

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        sets = self.datasets.values() if isinstance(self.datasets, dict) else self.datasets
        return len(next(iter(sets)))


class Subset(Dataset):
    """The samples of a data set at these indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset):
    """Data sets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __getitem__(self, index: int) -> Any:
        if not -len(self) <= index < len(self):
            raise IndexError(f"ConcatDataset: expected an index below {len(self)}, got {index}")
        index %= len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        start = self.cumulative_sizes[which - 1] if which > 0 else 0
        return self.datasets[which][index - start]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1] if self.cumulative_sizes else 0


def random_split(dataset: Any, lengths: Sequence[float],
                 generator: Optional[Generator] = None) -> list[Subset]:
    """Subsets of these lengths, or of these fractions, in random order.

    Lengths that sum to 1 are fractions, as in PyTorch. Each subset gets the floor of its share, and
    the samples that remain go to the first subsets.
    """
    total = len(dataset)
    sizes = [int(length) for length in lengths]
    has_fractions = math.isclose(sum(lengths), 1) and sum(lengths) <= 1
    if has_fractions:
        if min(lengths) < 0:
            raise ValueError(f"random_split: expected fractions in [0, 1], got {lengths}")
        sizes = [math.floor(total * share) for share in lengths]
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
        if 0 in sizes:
            warnings.warn(f"random_split: a subset is empty, fractions {lengths} of {total} samples",
                          stacklevel=2)
    is_exact = has_fractions or sizes == list(lengths)
    if sum(sizes) != total or min(sizes, default=0) < 0 or not is_exact:
        raise ValueError(f"random_split: expected lengths that sum to {total}, or fractions that sum "
                         f"to 1, got {lengths}")
    order = iter(permutation(total, generator))
    return [Subset(dataset, list(itertools.islice(order, size))) for size in sizes]


def default_collate(batch: Sequence[Any]) -> Any:
    """Stacks tensors, arrays and numbers; collates tuples, lists and mappings by element."""
    import numpy as np

    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch))
    if isinstance(first, (np.ndarray, np.generic)):
        return stack([tensor(np.asarray(value)) for value in batch])
    if isinstance(first, float):
        return tensor(np.array(batch, np.float64))
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(values) for values in zip(*batch)))
    if isinstance(first, (tuple, list)):
        if any(len(sample) != len(first) for sample in batch):
            raise ValueError("default_collate: expected samples of one length")
        return [default_collate(values) for values in zip(*batch)]
    raise TypeError("default_collate: expected tensors, arrays, numbers, text, mappings or "
                    f"sequences, got {type(first).__name__}; pass collate_fn")


def default_convert(data: Any) -> Any:
    """Makes tensors of NumPy's arrays, inside mappings and sequences too; keeps other values."""
    import numpy as np

    if isinstance(data, (np.ndarray, np.generic)):
        return as_tensor(np.asarray(data)) if data.dtype.kind in "fiub" else data
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, (tuple, list)):
        return [default_convert(value) for value in data]
    return data


def get_worker_info() -> None:
    """None: samples are loaded in the thread that iterates."""


def _expect_worker_options(num_workers: int, timeout: float, prefetch_factor: Optional[int],
                           persistent_workers: bool) -> None:
    if num_workers < 0 or timeout < 0:
        raise ValueError("DataLoader: expected num_workers and timeout of at least 0, got "
                         f"{num_workers} and {timeout}")
    if num_workers == 0 and (prefetch_factor is not None or persistent_workers):
        raise ValueError("DataLoader: expected num_workers for prefetch_factor and "
                         "persistent_workers, got 0")


class DataLoader:
    """Batches of a data set. Samples are loaded in the thread that iterates.

    `generator` shuffles; by default the default generator does. With batch_size=None samples come
    one by one, and arrays become tensors. Arguments for worker processes and `pin_memory` are
    checked and change nothing; batches are the same as without them.
    """

    def __init__(self, dataset: Any, batch_size: Optional[int] = 1, shuffle: Optional[bool] = None,
                 sampler: Optional[Iterable[int]] = None,
                 batch_sampler: Optional[Iterable[list[int]]] = None, num_workers: int = 0,
                 collate_fn: Optional[Callable[[list[Any]], Any]] = None, pin_memory: bool = False,
                 drop_last: bool = False, timeout: float = 0, worker_init_fn: Any = None,
                 multiprocessing_context: Any = None, generator: Optional[Generator] = None, *,
                 prefetch_factor: Optional[int] = None, persistent_workers: bool = False) -> None:
        _expect_worker_options(num_workers, timeout, prefetch_factor, persistent_workers)
        has_sampler = sampler is not None or batch_sampler is not None
        self.is_iterable = isinstance(dataset, IterableDataset) or (
            not hasattr(dataset, "__len__") and hasattr(dataset, "__iter__"))
        if self.is_iterable and (shuffle or has_sampler):
            raise ValueError("DataLoader: expected no shuffle and no sampler for a data set that is "
                             "iterated")
        if shuffle and has_sampler:
            raise ValueError("DataLoader: expected shuffle or a sampler, got both")
        if batch_sampler is not None:
            if batch_size != 1 or sampler is not None or drop_last:
                raise ValueError("DataLoader: expected a batch_sampler alone, got it with "
                                 "batch_size, sampler or drop_last")
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("DataLoader: expected a batch_size for drop_last, got None")
        if batch_size is not None:
            expect_count("DataLoader: batch_size", batch_size)
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.collate_fn, self.sampler = collate_fn, sampler
        if sampler is None and not self.is_iterable:
            shuffled = RandomSampler(dataset, generator=generator) if shuffle else None
            self.sampler = shuffled or SequentialSampler(dataset)
        self.batch_sampler = batch_sampler
        if batch_sampler is None and not self.is_iterable and batch_size is not None:
            self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)

    def _samples(self, indices: list[int]) -> list[Any]:
        if hasattr(self.dataset, "__getitems__"):
            return list(self.dataset.__getitems__(indices))
        return [self.dataset[i] for i in indices]

    def _collated(self, samples: list[Any]) -> Any:
        return (self.collate_fn or default_collate)(samples)

    def __iter__(self) -> Iterator[Any]:
        if self.batch_sampler is not None:
            return (self._collated(self._samples(indices)) for indices in self.batch_sampler)
        values = self.dataset if self.is_iterable else (self.dataset[i] for i in self.sampler or ())
        if self.batch_size is None:
            return ((self.collate_fn or default_convert)(value) for value in values)
        return (self._collated(batch)
                for batch in batches(values, self.batch_size, self.drop_last))

    def __len__(self) -> int:
        source = self.batch_sampler if self.batch_sampler is not None else self.sampler
        if self.is_iterable:
            source = self.dataset
        if not isinstance(source, Sized):
            raise TypeError("DataLoader: expected a data set with __len__, got one without")
        if not self.is_iterable or self.batch_size is None:
            return len(source)
        return batch_count(len(source), self.batch_size, self.drop_last)
