#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include <halfgrad/tests/emulator/streams/fake_runtime.h>

namespace halfgrad::emulator {

using Names = std::vector<std::string>;

struct Graphs : testing::Test {
  void SetUp() override {
    restart();
    cudaStreamCreate(&stream);
    cudaGraphCreate(&graph, 0);
  }
  cudaGraphNode_t kernel(const std::vector<cudaGraphNode_t>& dependencies, int argument) {
    const KernelNode parameters(add, argument);
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, dependencies.data(), dependencies.size(),
                                     parameters.get()),
              cudaSuccess);
    return node;
  }
  cudaGraphExec_t instantiate() {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    return exec;
  }
  Names launched(cudaGraphExec_t exec) {
    const std::size_t before = log().size();
    EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    const Names all = log();
    return {all.begin() + static_cast<std::ptrdiff_t>(before), all.end()};
  }
  FakeKernel add{"add"}, multiply{"multiply"};
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
};

}  // namespace halfgrad::emulator
