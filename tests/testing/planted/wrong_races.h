#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include <halfgrad/tests/testing/planted/wrong_sizes.h>

/// Kernels whose result depends on the order of threads, on chance or on earlier calls.
namespace halfgrad::testing::planted {

/// Changes the first element in about one of `odds` runs.
inline Kernel sometimes_wrong(const Kernel& right, unsigned odds) {
  return [=](const std::vector<Array>& in, const Array& out) {
    static std::mt19937 chance(std::random_device{}());
    right(in, out);
    if (out.numel() > 0 && chance() % odds == 0) Call{in, out}.y(0, 17);
  };
}
/// Changes the first element in every n-th run.
inline Kernel wrong_every(const Kernel& right, int n) {
  return [=, calls = 0](const std::vector<Array>& in, const Array& out) mutable {
    right(in, out);
    if (out.numel() > 0 && ++calls % n == 0) Call{in, out}.y(out.numel() - 1, 17);
  };
}
inline Kernel right_sum() {
  return rows([](const Call& c, Index row) { c.y(row, sum_of(c, row, 0, c.k)); });
}
inline Kernel right_product() {
  return products([](const Call& c, Index i, Index j, Index n) { return dot_of(c, i, j, n, c.k); });
}
inline Kernel right_softmax() {
  return rows([](const Call& c, Index row) { softmax_row(c, row, row, c.k); });
}
inline Kernel right_norm() {
  return rows([](const Call& c, Index row) { norm_row(c, row, c.k, 1e-5f); });
}
inline Kernel right_relu() {
  return each([](float x, float) { return x < 0 ? 0 : x; });
}

/// Two threads that add to one sum without a lock: a read, a pause, a write.
inline Kernel sum_of_two_threads(int pause) {
  return rows([=](const Call& c, Index row) {
    std::atomic<float> sum = 0;
    const auto add = [&](Index first, Index end) {
      for (Index i = first; i < end; ++i) {
        const float before = sum.load();
        for (int wait = 0; wait < pause; ++wait)
          std::atomic_signal_fence(std::memory_order_seq_cst);
        sum.store(before + c.x(row, i));
      }
    };
    std::thread other(add, 0, c.k / 2);
    add(c.k / 2, c.k);
    other.join();
    c.y(row, sum);
  });
}
/// A sum that begins where the last call ended, in one of the orders.
inline Kernel sum_in_turns(int orders) {
  return [orders, call = 0](const std::vector<Array>& in, const Array& out) mutable {
    ++call;
    called([&](const Call& c) {
      for (Index row = 0; row < c.m; ++row) {
        const Index start = c.k * (call % orders) / orders;
        c.y(row, sum_of(c, row, start, c.k) + sum_of(c, row, 0, start));
      }
    })(in, out);
  };
}
/// A sum whose scratch memory is cleared by the first call only, or by calls of another size.
inline Kernel sum_with_scratch(bool per_size) {
  return [per_size, scratch = std::vector<float>()](const std::vector<Array>& in,
                                                    const Array& out) mutable {
    const auto size = static_cast<std::size_t>(out.numel());
    if (per_size ? scratch.size() != size : scratch.size() < size) scratch.assign(size, 0);
    called([&](const Call& c) {
      for (Index row = 0; row < c.m; ++row) {
        float& sum = scratch[static_cast<std::size_t>(row)];
        sum += sum_of(c, row, 0, c.k);
        c.y(row, sum);
      }
    })(in, out);
  };
}

inline std::vector<PlantedKernel> wrong_races() {
  const DType f32 = kFloat32, f16 = kFloat16, bf16 = kBFloat16;
  return {
      {"sum", f32, "wrong in one of 10 runs", sometimes_wrong(right_sum(), 10)},
      {"sum", f16, "wrong in one of 100 runs", sometimes_wrong(right_sum(), 100)},
      {"sum", bf16, "wrong in one of 150 runs", sometimes_wrong(right_sum(), 150)},
      {"mm", f32, "wrong in one of 3 runs", sometimes_wrong(right_product(), 3)},
      {"mm", f16, "wrong in one of 30 runs", sometimes_wrong(right_product(), 30)},
      {"softmax", f32, "wrong in one of 50 runs", sometimes_wrong(right_softmax(), 50)},
      {"softmax", bf16, "wrong in one of 2 runs", sometimes_wrong(right_softmax(), 2)},
      {"layer_norm", f32, "wrong in one of 20 runs", sometimes_wrong(right_norm(), 20)},
      {"relu", f32, "wrong in one of 80 runs", sometimes_wrong(right_relu(), 80)},
      {"relu", f16, "wrong in every 7th run", wrong_every(right_relu(), 7)},
      {"sum", f32, "wrong in every 100th run", wrong_every(right_sum(), 100)},
      {"sum", f32, "wrong in every 1000th run", wrong_every(right_sum(), 1000)},
      {"mm", bf16, "wrong in every second run", wrong_every(right_product(), 2)},
      {"mm", f32, "wrong in every 500th run", wrong_every(right_product(), 500)},
      {"layer_norm", f16, "wrong in every third run", wrong_every(right_norm(), 3)},
      {"sum", f32, "two threads, one sum", sum_of_two_threads(20)},
      {"sum", f16, "two threads, one sum and a long pause", sum_of_two_threads(200)},
      {"sum", f32, "two orders in turn", sum_in_turns(2)},
      {"sum", f32, "seven orders in turn", sum_in_turns(7)},
      {"sum", f32, "scratch memory cleared once", sum_with_scratch(false)},
      {"sum", f32, "scratch memory cleared for each size", sum_with_scratch(true)},
  };
}

}  // namespace halfgrad::testing::planted
