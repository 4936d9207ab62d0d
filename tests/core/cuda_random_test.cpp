// Random numbers on a GPU are the CPU's, bit for bit, and a graph's are those of plain calls.
#include <halfgrad/core/random.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/graph.h>
#include <halfgrad/tests/core/arrays.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

constexpr RandomKey kDeviceKey{.seed = 20111112, .stream = 7};
constexpr DType kFloats[] = {kDouble, kFloat, kHalf, kBFloat16};

using RandomOnCuda = OnCuda;

void expect_same_fill(DType dtype, const std::function<void(const Array&)>& fill) {
  for (const std::int64_t n : {0, 1, 3, 4, 5, 1 << 20, (1 << 20) + 3}) {
    const Array on_cpu = Array::empty({n}, dtype), on_gpu = Array::empty({n}, dtype, kCUDA);
    fill(on_cpu);
    fill(on_gpu);
    SCOPED_TRACE(std::string(name(dtype)) + " " + std::to_string(n));
    expect_same_bits(on_gpu, on_cpu);
  }
  const Array on_cpu = Array::empty({33, 17}, dtype), on_gpu = Array::empty({33, 17}, dtype, kCUDA);
  fill(on_cpu.transpose(0, 1));
  fill(on_gpu.transpose(0, 1));
  expect_same_bits(on_gpu, on_cpu);
}

TEST_F(RandomOnCuda, HasTheBitsOfTheCpu) {
  for (const DType dtype : kFloats) {
    expect_same_fill(dtype, [](const Array& out) { random::uniform(out, -2.5, 3, kDeviceKey); });
    expect_same_fill(dtype, [](const Array& out) { random::uniform(out, 1, 2, kDeviceKey); });
    expect_same_fill(dtype, [](const Array& out) { random::normal(out, 0.7, 1.3, kDeviceKey); });
  }
  for (const DType dtype : kAllDTypes) {
    expect_same_fill(dtype, [](const Array& out) { random::bernoulli(out, 0.3, kDeviceKey); });
    expect_same_fill(dtype, [](const Array& out) { random::integer(out, -9, 100, kDeviceKey); });
  }
}

TEST_F(RandomOnCuda, DropsTheElementsThatTheCpuDrops) {
  for (const DType dtype : kFloats) {
    for (const std::int64_t n : {0, 1, 7, 8, 9, 100'003}) {
      const Array x = Array::empty({n + 1}, dtype);
      random::normal(x, 0, 1, kDeviceKey);
      const Array x_on_gpu = x.to(kCUDA);
      for (const std::int64_t from : {0, 1}) {  // aligned and not
        const Array on_cpu = Array::empty({n}, dtype), on_gpu = Array::empty({n}, dtype, kCUDA);
        random::dropout(on_cpu, x.slice(0, from, from + n), 0.3, kDeviceKey);
        random::dropout(on_gpu, x_on_gpu.slice(0, from, from + n), 0.3, kDeviceKey);
        expect_same_bits(on_gpu, on_cpu);
      }
    }
  }
}

TEST_F(RandomOnCuda, PermutesAsTheCpuDoes) {
  for (const std::int64_t n : {0, 1, 2, 1000, 100'003}) {
    expect_same_bits(random::permutation(n, kDeviceKey, kCUDA), random::permutation(n, kDeviceKey));
  }
}

TEST_F(RandomOnCuda, AGraphDrawsWhatPlainCallsWouldHaveDrawn) {
  const auto drawn = [](bool by_graph) {
    Generator generator(5);
    const Array a = Array::empty({1000}, kFloat, kCUDA), b = Array::empty({1000}, kHalf, kCUDA);
    const Array between = Array::empty({1000}, kFloat, kCUDA);
    const auto step = [&] {
      random::normal(a, 0, 1, generator.take());
      random::uniform(b, 0, 1, generator.take());
    };
    Graph graph;
    if (by_graph) graph.capture(step);
    EXPECT_EQ(generator.get_state().stream, 0U) << "a capture takes no keys";
    std::vector<Array> results;
    for (int i = 0; i < 3; ++i) {
      if (by_graph) {
        graph.replay();
      } else {
        step();
      }
      random::uniform(between, 0, 1, generator.take());
      for (const Array& values : {a, b, between}) results.push_back(values.to(Device()));
    }
    return results;
  };
  const std::vector<Array> replayed = drawn(true), plain = drawn(false);
  for (std::size_t i = 0; i < plain.size(); ++i) expect_same_bits(replayed[i], plain[i]);
}

// A graph's pool reuses blocks that an earlier kernel of the graph has written to. A key in such a
// block would be overwritten before it is used.
TEST_F(RandomOnCuda, AGraphDoesNotOverwriteItsOwnKeys) {
  Generator generator(5), plain(5);
  const Array a = Array::empty({1000}, kFloat, kCUDA), expected = Array::empty({1000}, kFloat);
  Graph graph;
  graph.capture([&] {
    Array::full({4}, 7, kFloat, kCUDA);
    random::uniform(a, 0, 1, generator.take());
  });
  for (int i = 0; i < 2; ++i) {
    graph.replay();
    random::uniform(expected, 0, 1, plain.take());
    expect_same_bits(a, expected);
  }
}

TEST_F(RandomOnCuda, AReplayDoesNotWait) {
  const Array a = Array::empty({1000}, kFloat, kCUDA);
  Graph graph;
  graph.capture([&] { random::normal(a, 0, 1, default_generator().take()); });
  const auto waits = cuda::host_waits();
  for (int i = 0; i < 3; ++i) graph.replay();
  EXPECT_EQ(cuda::host_waits(), waits);
}

TEST_F(RandomOnCuda, TheHostDrawsNothingWhileAGraphIsCaptured) {
  const Array on_cpu = Array::empty({4}, kFloat);
  Graph graph;
  EXPECT_THROW(graph.capture([&] { random::normal(on_cpu, 0, 1, default_generator().take()); }),
               std::invalid_argument);
  random::normal(on_cpu, 0, 1, default_generator().take());
}

}  // namespace
}  // namespace halfgrad
