#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include <halfgrad/tests/emulator/streams/fake_runtime.h>

namespace halfgrad::emulator {
namespace {

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

TEST_F(Graphs, ChildGraphsAreCopiedAndStandBetweenTheirNeighbours) {
  kernel({}, 1);
  kernel({}, 2);
  const cudaGraph_t child = graph;
  cudaGraphCreate(&graph, 0);
  const cudaGraphNode_t first = kernel({}, 0);
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddChildGraphNode(&node, graph, &first, 1, child), cudaSuccess);
  kernel({node}, 3);
  EXPECT_EQ(cudaGraphDestroy(child), cudaSuccess);
  const cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(launched(exec), Names({"add 0", "add 1", "add 2", "add 3"}));
  const auto op = [](const char* name) { return operation_of(name); };
  EXPECT_FALSE(operation_order().ordered(op("add 1"), op("add 2")));
  EXPECT_TRUE(operation_order().ordered(op("add 0"), op("add 2")));
  EXPECT_TRUE(operation_order().ordered(op("add 2"), op("add 3")));

  cudaGraph_t inside = nullptr;
  ASSERT_EQ(cudaGraphChildGraphNodeGetGraph(node, &inside), cudaSuccess);
  std::size_t count = 2;
  cudaGraphNode_t nodes[2] = {};
  cudaGraphGetNodes(inside, nodes, &count);
  const KernelNode changed(multiply, 9);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, nodes[0], changed.get()), cudaSuccess);
  EXPECT_EQ(launched(exec), Names({"add 0", "multiply 9", "add 2", "add 3"}));
}

TEST_F(Graphs, NodesCanBeSwitchedOff) {
  const cudaGraphNode_t first = kernel({}, 1);
  kernel({first}, 2);
  const cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(cudaGraphNodeSetEnabled(exec, first, 0), cudaSuccess);
  unsigned enabled = 1;
  EXPECT_EQ(cudaGraphNodeGetEnabled(exec, first, &enabled), cudaSuccess);
  EXPECT_EQ(enabled, 0u);
  EXPECT_EQ(launched(exec), Names({"add 2"}));
}

TEST_F(Graphs, EdgesCanBeAddedRemovedAndRead) {
  const cudaGraphNode_t first = kernel({}, 1), second = kernel({}, 2), third = kernel({}, 3);
  EXPECT_EQ(cudaGraphAddDependencies(graph, &third, &first, nullptr, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphAddDependencies(graph, &third, &first, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1), cudaSuccess);
  EXPECT_EQ(launched(instantiate()), Names({"add 3", "add 1", "add 2"}));
  cudaGraphNode_t found[3] = {first, first, first};
  cudaGraphEdgeData data[3];
  std::size_t count = 3;
  EXPECT_EQ(cudaGraphNodeGetDependencies(first, found, data, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(found[0], third);
  EXPECT_EQ(found[1], nullptr);
  count = 3;
  EXPECT_EQ(cudaGraphNodeGetDependentNodes(first, found, data, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(found[0], second);
  EXPECT_EQ(cudaGraphRemoveDependencies(graph, &third, &first, nullptr, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphRemoveDependencies(graph, &third, &first, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroyNode(first), cudaSuccess);
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 2u);
  cudaGraphAddDependencies(graph, &second, &third, nullptr, 1);
  cudaGraphAddDependencies(graph, &third, &second, nullptr, 1);
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiateParams parameters{};
  EXPECT_EQ(cudaGraphInstantiateWithParams(&exec, graph, &parameters), cudaErrorInvalidValue);
  EXPECT_EQ(parameters.result_out, cudaGraphInstantiateInvalidStructure);
}

TEST_F(Graphs, ClonesKeepNodesApart) {
  const cudaGraphNode_t node = kernel({}, 1);
  cudaGraph_t clone = nullptr;
  cudaGraphNode_t found = nullptr;
  ASSERT_EQ(cudaGraphClone(&clone, graph), cudaSuccess);
  ASSERT_EQ(cudaGraphNodeFindInClone(&found, node, clone), cudaSuccess);
  EXPECT_NE(found, node);
  const KernelNode changed(multiply, 2);
  cudaGraphKernelNodeSetParams(found, changed.get());
  EXPECT_EQ(launched(instantiate()), Names({"add 1"}));
  graph = clone;
  EXPECT_EQ(launched(instantiate()), Names({"multiply 2"}));
}

TEST_F(Graphs, EventNodesOrderStreams) {
  restart(true);
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  cudaEventCreate(&event);
  cudaGraphCreate(&graph, 0);
  const cudaGraphNode_t first = kernel({}, 1);
  cudaGraphNode_t record = nullptr;
  ASSERT_EQ(cudaGraphAddEventRecordNode(&record, graph, &first, 1, event), cudaSuccess);
  kernel({record}, 2);
  cudaGraphLaunch(instantiate(), stream);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(log(), Names({"add 1"}));

  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t wait = nullptr;
  ASSERT_EQ(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, event), cudaSuccess);
  kernel({wait}, 3);
  give(stream, "last");
  cudaEventRecord(event, stream);
  cudaGraphLaunch(instantiate(), other);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(log(), Names({"add 1", "add 2", "last", "add 3"}));
}

TEST_F(Graphs, ALaunchIntoACaptureBecomesAChildGraph) {
  kernel({kernel({}, 1)}, 2);
  const cudaGraphExec_t exec = instantiate();
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  give(stream, "a");
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  give(stream, "b");
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(log(), Names());
  EXPECT_EQ(launched(instantiate()), Names({"a", "add 1", "add 2", "b"}));
}

TEST_F(Graphs, TheGenericCallAddsEveryType) {
  const KernelNode kernel_parameters(add, 1);
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeKernel;
  parameters.kernel.func = &add;
  parameters.kernel.kernelParams = kernel_parameters.get()->kernelParams;
  cudaGraphNode_t first = nullptr, second = nullptr;
  ASSERT_EQ(cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &parameters), cudaSuccess);
  parameters = {};
  parameters.type = cudaGraphNodeTypeMemset;
  parameters.memset.value = 6;
  ASSERT_EQ(cudaGraphAddNode(&second, graph, &first, nullptr, 1, &parameters), cudaSuccess);
  const cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(launched(exec), Names({"add 1", "memset 6"}));
  parameters.memset.value = 7;
  EXPECT_EQ(cudaGraphExecNodeSetParams(exec, second, &parameters), cudaSuccess);
  EXPECT_EQ(launched(exec), Names({"add 1", "memset 7"}));
  parameters = {};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.size = 1;
  EXPECT_EQ(cudaGraphAddNode(&second, graph, nullptr, nullptr, 0, &parameters),
            cudaErrorInvalidValue);
}

TEST_F(Graphs, MemoryNodesShareAnAddressAcrossLaunches) {
  cudaMemAllocNodeParams parameters{};
  parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  parameters.poolProps.location = {cudaMemLocationTypeDevice, 0};
  parameters.bytesize = 1024;
  cudaGraphNode_t allocate = nullptr, release = nullptr;
  ASSERT_EQ(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &parameters), cudaSuccess);
  ASSERT_NE(parameters.dptr, nullptr);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&release, graph, &allocate, 1, parameters.dptr), cudaSuccess);
  EXPECT_EQ(cudaGraphAddMemFreeNode(&release, graph, &allocate, 1, parameters.dptr),
            cudaErrorInvalidValue);
  const cudaGraphExec_t exec = instantiate();
  launched(exec);
  launched(exec);
  void* address = nullptr;
  EXPECT_EQ(cudaGraphMemFreeNodeGetParams(release, &address), cudaSuccess);
  EXPECT_EQ(address, parameters.dptr);
}

TEST_F(Graphs, TheDotFileNamesNodesAndEdges) {
  kernel({kernel({}, 1)}, 2);
  const std::string path = testing::TempDir() + "graph.dot";
  ASSERT_EQ(cudaGraphDebugDotPrint(graph, path.c_str(), 0), cudaSuccess);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(),
            "digraph graph_1 {\n"
            "  node [shape=box];\n"
            "  node_0 [label=\"add 1\\n\"];\n"
            "  node_1 [label=\"add 2\\n\"];\n"
            "  node_0 -> node_1;\n"
            "}\n");
}

}  // namespace
}  // namespace halfgrad::emulator
