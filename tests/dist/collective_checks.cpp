#include "collective_checks.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "rank_values.h"

namespace halfgrad::dist {
namespace {

// 0, 1, not divisible by the ranks, the limit of small arrays (4 KiB of float), and above.
constexpr std::int64_t kSizes[] = {0, 1, 5, 1024, 1025, 20011};

template <class F>
void for_each_dtype(const F& f) {
  for (const DType dtype : kAllDTypes) visit(dtype, f);
}

template <class F>
void for_each_op(DType dtype, const F& f) {
  f(ReduceOp::sum);
  f(ReduceOp::max);
  if (is_floating_point(dtype)) f(ReduceOp::average);
}

// Compares element i of `array` with expected(i).
template <class T, class F>
void expect_elements(const Array& array, const char* what, const F& expected) {
  std::int64_t wrong = 0, first = -1;
  for (std::int64_t i = 0; i < array.numel(); ++i) {
    if (same_element<T>(array.data_as<T>()[i], expected(i))) continue;
    if (wrong++ == 0) first = i;
  }
  EXPECT_EQ(wrong, 0) << what << " of " << array.numel() << " " << array.dtype()
                      << ", first at element " << first;
}

}  // namespace

void check_all_reduce(Communicator& communicator) {
  for_each_dtype([&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const std::int64_t n : kSizes) {
      for_each_op(dtype_of<T>(), [&](ReduceOp op) {
        const Array array = values_of<T>(communicator.rank(), n);
        communicator.all_reduce(array, op).wait();
        expect_elements<T>(array, "all_reduce", [&](std::int64_t i) {
          return expected_of<T>(op, communicator.size(), i);
        });
      });
    }
  });
}

void check_reduce_scatter(Communicator& communicator) {
  const int ranks = communicator.size(), rank = communicator.rank();
  for_each_dtype([&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const std::int64_t n : kSizes) {
      for_each_op(dtype_of<T>(), [&](ReduceOp op) {
        const auto expected = [&](std::int64_t i) {
          return expected_of<T>(op, ranks, rank * n + i);
        };
        const Array input = values_of<T>(rank, n * ranks);
        const Array output = Array::empty({n}, dtype_of<T>());
        communicator.reduce_scatter(output, input, op).wait();
        expect_elements<T>(output, "reduce_scatter", expected);

        const Array part = input.slice(0, rank * n, rank * n + n);
        communicator.reduce_scatter(part, input, op).wait();
        expect_elements<T>(part, "reduce_scatter in place", expected);
      });
    }
  });
}

void check_all_gather(Communicator& communicator) {
  const int ranks = communicator.size(), rank = communicator.rank();
  for_each_dtype([&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const std::int64_t n : kSizes) {
      const auto expected = [&](std::int64_t i) {
        return value_of<T>(static_cast<int>(i / n), i % n);
      };
      const Array output = Array::full({n * ranks}, Scalar(0), dtype_of<T>());
      communicator.all_gather(output, values_of<T>(rank, n)).wait();
      expect_elements<T>(output, "all_gather", expected);

      output.fill_(Scalar(0));
      const Array part = output.slice(0, rank * n, rank * n + n);
      part.copy_(values_of<T>(rank, n));
      communicator.all_gather(output, part).wait();
      expect_elements<T>(output, "all_gather in place", expected);
    }
  });
}

void check_broadcast(Communicator& communicator) {
  for_each_dtype([&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int root = 0; root < communicator.size(); ++root) {
      for (const std::int64_t n : kSizes) {
        const Array array = values_of<T>(communicator.rank(), n);
        communicator.broadcast(array, root).wait();
        expect_elements<T>(array, "broadcast",
                           [&](std::int64_t i) { return value_of<T>(root, i); });
      }
    }
  });
}

void check_cuts(Communicator& communicator) {
  constexpr std::int64_t kCount = 30000;
  const Array whole = values_of<Half>(communicator.rank(), kCount);
  const Array in_calls = values_of<Half>(communicator.rank(), kCount);
  std::vector<Work> works = {communicator.all_reduce(whole, ReduceOp::average)};
  const std::int64_t cuts[] = {0, 1, 100, 2049, 2050, 17000, kCount};
  for (std::size_t c = 0; c + 1 < std::size(cuts); ++c) {
    works.push_back(
        communicator.all_reduce(in_calls.slice(0, cuts[c], cuts[c + 1]), ReduceOp::average));
  }
  for (const Work& work : works) work.wait();
  for (std::int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(whole.data_as<Half>()[i].bits, in_calls.data_as<Half>()[i].bits) << "element " << i;
  }
}

void check_order(Communicator& communicator) {
  constexpr int kCalls = 50;
  std::vector<Array> arrays;
  std::vector<Work> works;
  for (int c = 0; c < kCalls; ++c) {
    arrays.push_back(values_of<float>(communicator.rank(), 1 + c * 300, c));
    works.push_back(communicator.all_reduce(arrays.back()));
  }
  for (int c = kCalls - 1; c >= 0; --c) {
    works[c].wait();
    EXPECT_TRUE(works[c].is_completed());
    expect_elements<float>(arrays[c], "all_reduce", [&](std::int64_t i) {
      return expected_of<float>(ReduceOp::sum, communicator.size(), c + i);
    });
  }
}

void check_pieces(Communicator& communicator) {
  const int ranks = communicator.size(), rank = communicator.rank();
  constexpr std::int64_t kCount = (65 << 20) / 8 + 3;
  const double sum = ranks * (ranks + 1) / 2;
  const auto count_others = [](const Array& array, double expected) {
    const auto* const begin = array.data_as<double>();
    const auto same = std::count(begin, begin + array.numel(), expected);
    return array.numel() - same;
  };
  const Array array = communicator.empty({kCount}, kFloat64);
  const Array input = communicator.empty({kCount * ranks}, kFloat64);
  const Array output = Array::empty({kCount}, kFloat64);
  array.fill_(rank + 1);
  input.fill_(rank + 1);
  const Work first = communicator.all_reduce(array);
  communicator.reduce_scatter(output, input).wait();
  first.wait();
  EXPECT_EQ(count_others(array, sum), 0);
  EXPECT_EQ(count_others(output, sum), 0);

  array.fill_(rank + 1);
  communicator.all_gather(input, array).wait();
  for (int r = 0; r < ranks; ++r) {
    EXPECT_EQ(count_others(input.slice(0, r * kCount, (r + 1) * kCount), r + 1), 0) << "rank " << r;
  }
}

void check_own_memory(Communicator& communicator) {
  const int ranks = communicator.size(), rank = communicator.rank();
  const auto expect_same_bytes = [](const Array& own, const Array& other) {
    EXPECT_EQ(std::memcmp(own.data(), other.data(), own.numel() * item_size(own.dtype())), 0)
        << own.numel() << " elements";
  };
  for (const std::int64_t n : {1, 1024, 1025, 20011}) {
    for (int repeat = 0; repeat < 3; ++repeat) {  // later arrays take the memory of earlier ones
      const Array other = values_of<float>(rank, n * ranks, repeat);
      const Array own = communicator.empty({n * ranks}, kFloat32);
      own.copy_(other);
      communicator.all_reduce(own, ReduceOp::average).wait();
      communicator.all_reduce(other, ReduceOp::average).wait();
      expect_same_bytes(own, other);

      own.slice(0, 0, n).fill_(rank);
      other.slice(0, 0, n).fill_(rank);
      const Array own_part = communicator.empty({n}, kFloat32), part = Array::empty({n}, kFloat32);
      communicator.reduce_scatter(own_part, own).wait();
      communicator.reduce_scatter(part, other).wait();
      expect_same_bytes(own_part, part);

      communicator.all_gather(own, own_part).wait();
      communicator.all_gather(other, part).wait();
      expect_same_bytes(own, other);
    }
  }
}

void check_all(Communicator& communicator) {
  check_all_reduce(communicator);
  check_reduce_scatter(communicator);
  check_all_gather(communicator);
  check_broadcast(communicator);
  check_cuts(communicator);
  check_order(communicator);
  check_own_memory(communicator);
  communicator.barrier();
}

}  // namespace halfgrad::dist
