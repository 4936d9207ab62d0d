"""Orders of indices; see data.py."""

import itertools
from typing import Any, Iterable, Iterator, Optional, Sequence, Sized

from .._halfgrad import (Generator, default_generator, dtype, multinomial, randint, randperm,
                         use_generator)
from ..extras import as_tensor
from ..regions import Region


def permutation(count: int, generator: Optional[Generator]) -> list[int]:
    with Region(lambda: use_generator(generator or default_generator())):
        return randperm(count).tolist()


class Sampler:
    """Iterates over indices."""

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__}: define __iter__()")


class SequentialSampler(Sampler):
    """0, 1, ... in order."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """All indices in random order, or `num_samples` random ones.

    Without replacement, more samples than the data set has are several random orders after each
    other.
    """

    def __init__(self, data_source: Sized, replacement: bool = False,
                 num_samples: Optional[int] = None,
                 generator: Optional[Generator] = None) -> None:
        super().__init__(data_source)
        if num_samples is not None:
            expect_count("RandomSampler: num_samples", num_samples)
        self.replacement, self.generator = replacement, generator
        self.num_samples = len(data_source) if num_samples is None else num_samples

    def __iter__(self) -> Iterator[int]:
        count = len(self.data_source)
        if not self.replacement:
            rounds = -(-self.num_samples // max(count, 1))
            order = [i for _ in range(rounds) for i in permutation(count, self.generator)]
            return iter(order[:self.num_samples])
        with Region(lambda: use_generator(self.generator or default_generator())):
            return iter(randint(0, count, self.num_samples).tolist())

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """These indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Optional[Generator] = None) -> None:
        super().__init__()
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        return (self.indices[i] for i in permutation(len(self.indices), self.generator))

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """num_samples indices, drawn with probabilities in proportion to the weights."""

    def __init__(self, weights: Sequence[float], num_samples: int, replacement: bool = True,
                 generator: Optional[Generator] = None) -> None:
        super().__init__()
        self.weights = as_tensor(weights, dtype.float64)
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        return iter(multinomial(self.weights, self.num_samples, self.replacement,
                                generator=self.generator).tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of `batch_size` indices of another sampler."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        super().__init__()
        expect_count("BatchSampler: batch_size", batch_size)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        return batches(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        return batch_count(len(self.sampler), self.batch_size, self.drop_last)


def expect_count(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}: expected an int of at least 1, got {value}")


def batch_count(samples: int, size: int, drop_last: bool) -> int:
    return samples // size if drop_last else -(-samples // size)


def batches(values: Iterable[Any], size: int, drop_last: bool) -> Iterator[list[Any]]:
    remaining = iter(values)
    while batch := list(itertools.islice(remaining, size)):
        if len(batch) == size or not drop_last:
            yield batch
