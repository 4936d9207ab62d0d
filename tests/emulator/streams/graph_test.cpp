#include <gtest/gtest.h>

#include <halfgrad/emulator/report/process_report.h>
#include <halfgrad/emulator/runtime/launches.h>
#include <halfgrad/tests/emulator/streams/graph_fixture.h>

namespace halfgrad::emulator {
namespace {

TEST_F(Graphs, EveryLaunchRunsAllNodesUnderNewOperations) {
  const cudaGraphNode_t first = kernel({}, 1);
  kernel({first}, 2);
  const cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(launched(exec), Names({"add 1", "add 2"}));
  const OperationId one = operation_of("add 1"), two = operation_of("add 2");
  EXPECT_TRUE(operation_order().ordered(one, two));
  EXPECT_EQ(launched(exec), Names({"add 1", "add 2"}));
  EXPECT_GT(operation_of("add 1"), two);
}

TEST_F(Graphs, AnExecutableGraphOutlivesItsGraph) {
  kernel({}, 1);
  const cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(launched(exec), Names({"add 1"}));
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
}

TEST_F(Graphs, BranchesInterleaveBySeedAndAreNotOrdered) {
  std::set<Names> orders;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    restart(true, seed);
    cudaStreamCreate(&stream);
    cudaGraphCreate(&graph, 0);
    const cudaGraphNode_t root = kernel({}, 0);
    const cudaGraphNode_t left = kernel({kernel({root}, 1)}, 2);
    const cudaGraphNode_t right = kernel({kernel({root}, 3)}, 4);
    kernel({left, right}, 5);
    const cudaGraphExec_t exec = instantiate();
    give(stream, "before");
    cudaGraphLaunch(exec, stream);
    give(stream, "between");
    cudaGraphLaunch(exec, stream);
    give(stream, "after");
    EXPECT_EQ(log(), Names());
    cudaStreamSynchronize(stream);
    const Names ran = log();
    ASSERT_EQ(ran.size(), 15u);
    for (const std::size_t begin : {1u, 8u}) {
      const auto place = [&](const char* name) {
        return std::find(ran.begin() + static_cast<std::ptrdiff_t>(begin), ran.end(), name) -
               ran.begin();
      };
      EXPECT_EQ(ran[begin - 1], begin == 1 ? "before" : "between");
      EXPECT_EQ(ran[begin], "add 0");
      EXPECT_LT(place("add 1"), place("add 2"));
      EXPECT_LT(place("add 3"), place("add 4"));
      EXPECT_EQ(ran[begin + 5], "add 5");
    }
    EXPECT_EQ(ran.back(), "after");
    orders.insert(ran);
    const OperationOrder& order = operation_order();
    const auto op = [](const char* name) { return operation_of(name); };
    EXPECT_FALSE(order.ordered(op("add 1"), op("add 3")));
    EXPECT_FALSE(order.ordered(op("add 2"), op("add 4")));
    EXPECT_FALSE(order.ordered(op("add 1"), op("add 4")));
    EXPECT_TRUE(order.ordered(op("add 0"), op("add 4")));
    EXPECT_TRUE(order.ordered(op("add 2"), op("add 5")));
    EXPECT_TRUE(order.ordered(op("add 4"), op("add 5")));
    EXPECT_TRUE(order.ordered(op("between"), op("add 3")));
    EXPECT_TRUE(order.ordered(op("before"), op("add 3")));
    EXPECT_TRUE(order.ordered(op("add 4"), op("after")));
  }
  EXPECT_GT(orders.size(), 10u);
}

TEST_F(Graphs, ALaunchIsLoggedWithItsLongestChain) {
  const cudaGraphNode_t root = kernel({}, 0);
  const cudaGraphNode_t left = kernel({kernel({root}, 1)}, 2);
  const cudaGraphNode_t right = kernel({root}, 3);
  cudaGraphNode_t join = nullptr;  // an empty node is no work
  const cudaGraphNode_t both[] = {left, right};
  cudaGraphAddEmptyNode(&join, graph, both, 2);
  kernel({join}, 4);
  const cudaGraphExec_t exec = instantiate();
  const std::size_t before = launch_log().calls().size();
  launched(exec);
  const std::vector<CallRecord> calls = launch_log().calls();
  ASSERT_EQ(calls.size(), before + 1);
  EXPECT_STREQ(calls.back().kind, "graph");
  EXPECT_EQ(calls.back().detail, "5 nodes, longest chain of 4");
}

TEST_F(Graphs, LaunchesOfOneExecutableGraphAreOrderedAcrossStreams) {
  cudaStream_t other = nullptr;
  cudaStreamCreate(&other);
  kernel({}, 1);
  const cudaGraphExec_t exec = instantiate();
  cudaGraphLaunch(exec, stream);
  const OperationId first = operation_of("add 1");
  cudaGraphLaunch(exec, other);
  EXPECT_TRUE(operation_order().ordered(first, operation_of("add 1")));
}

TEST_F(Graphs, KernelParametersAreCopies) {
  cudaGraphNode_t node = nullptr;
  {
    const KernelNode parameters(add, 7);
    cudaGraphAddKernelNode(&node, graph, nullptr, 0, parameters.get());
  }
  cudaKernelNodeParams parameters{};
  ASSERT_EQ(cudaGraphKernelNodeGetParams(node, &parameters), cudaSuccess);
  EXPECT_EQ(parameters.func, &add);
  EXPECT_EQ(*static_cast<int*>(parameters.kernelParams[0]), 7);
  const cudaGraphExec_t exec = instantiate();
  const KernelNode changed(multiply, 8);
  EXPECT_EQ(cudaGraphKernelNodeSetParams(node, changed.get()), cudaSuccess);
  EXPECT_EQ(launched(exec), Names({"add 7"}));
  EXPECT_EQ(launched(instantiate()), Names({"multiply 8"}));
}

TEST_F(Graphs, AnExecutableGraphTakesNewParameters) {
  const cudaGraphNode_t node = kernel({}, 1);
  cudaGraphNode_t copy = nullptr, memset = nullptr, host = nullptr;
  cudaGraphAddMemcpyNode1D(&copy, graph, &node, 1, nullptr, nullptr, 16, cudaMemcpyDefault);
  cudaMemsetParams fill{};
  fill.value = 3;
  cudaGraphAddMemsetNode(&memset, graph, &copy, 1, &fill);
  static int calls;
  calls = 0;
  cudaHostNodeParams call{[](void* by) { calls += *static_cast<int*>(by); }, nullptr};
  int one = 1, ten = 10;
  call.userData = &one;
  cudaGraphAddHostNode(&host, graph, &memset, 1, &call);
  const cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(launched(exec), Names({"add 1", "copy 16", "memset 3", "host function"}));
  EXPECT_EQ(calls, 1);
  const KernelNode changed(multiply, 2);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, node, changed.get()), cudaSuccess);
  EXPECT_EQ(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, nullptr, nullptr, 32, cudaMemcpyDefault),
            cudaSuccess);
  fill.value = 4;
  EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(exec, memset, &fill), cudaSuccess);
  call.userData = &ten;
  EXPECT_EQ(cudaGraphExecHostNodeSetParams(exec, host, &call), cudaSuccess);
  EXPECT_EQ(launched(exec), Names({"multiply 2", "copy 32", "memset 4", "host function"}));
  EXPECT_EQ(calls, 11);
  EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(exec, node, &fill), cudaErrorInvalidValue);
}

TEST_F(Graphs, AGraphOfTheSameShapeUpdatesAnExecutableOne) {
  kernel({kernel({}, 1)}, 2);
  const cudaGraphExec_t exec = instantiate();
  cudaGraphCreate(&graph, 0);
  kernel({kernel({}, 3)}, 4);
  cudaGraphExecUpdateResultInfo info{};
  EXPECT_EQ(cudaGraphExecUpdate(exec, graph, &info), cudaSuccess);
  EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
  EXPECT_EQ(launched(exec), Names({"add 3", "add 4"}));

  cudaGraphCreate(&graph, 0);
  kernel({}, 5);
  const cudaGraphNode_t apart = kernel({}, 6);
  EXPECT_EQ(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(info.errorNode, apart);
  EXPECT_EQ(launched(exec), Names({"add 3", "add 4"}));

  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t empty = nullptr;
  const cudaGraphNode_t first = kernel({}, 7);
  cudaGraphAddEmptyNode(&empty, graph, &first, 1);
  EXPECT_EQ(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
  EXPECT_EQ(info.errorNode, empty);
  kernel({empty}, 8);
  EXPECT_EQ(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(info.errorNode, nullptr);
}

}  // namespace
}  // namespace halfgrad::emulator
