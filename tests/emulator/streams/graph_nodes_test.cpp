#include <gtest/gtest.h>

#include <halfgrad/tests/emulator/streams/graph_fixture.h>

namespace halfgrad::emulator {
namespace {

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
