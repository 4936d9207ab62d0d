#include <gtest/gtest.h>

#include <halfgrad/emulator/runtime/streams/conditional.h>
#include <halfgrad/tests/emulator/streams/fake_runtime.h>

namespace halfgrad::emulator {
namespace {

using Names = std::vector<std::string>;

/// A countdown that sets a condition, as a kernel would by cudaGraphSetConditional.
struct Countdown {
  cudaGraphConditionalHandle condition = 0;
  unsigned left = 0;
};
void count_down(void* data) {
  auto& countdown = *static_cast<Countdown*>(data);
  if (countdown.left != 0) --countdown.left;
  set_condition(countdown.condition, countdown.left);
}

struct Conditionals : testing::TestWithParam<bool> {
  void SetUp() override {
    restart(GetParam(), 3);
    cudaStreamCreate(&stream);
    cudaGraphCreate(&graph, 0);
    ASSERT_EQ(cudaGraphConditionalHandleCreate(&countdown.condition, graph, 1,
                                               cudaGraphCondAssignDefault),
              cudaSuccess);
  }
  /// Adds the node behind `after`, and a kernel with argument i to body i.
  cudaGraphNode_t conditional(cudaGraphConditionalNodeType type, unsigned bodies,
                              std::vector<cudaGraphNode_t> after = {}) {
    cudaGraphNodeParams parameters{};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = countdown.condition;
    parameters.conditional.type = type;
    parameters.conditional.size = bodies;
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddNode(&node, graph, after.data(), nullptr, after.size(), &parameters),
              cudaSuccess);
    body = parameters.conditional.phGraph_out[0];
    for (unsigned i = 0; i < bodies; ++i) kernel(parameters.conditional.phGraph_out[i], {}, int(i));
    return node;
  }
  cudaGraphNode_t kernel(cudaGraph_t to, std::vector<cudaGraphNode_t> after, int argument) {
    const KernelNode parameters(add, argument);
    cudaGraphNode_t node = nullptr;
    cudaGraphAddKernelNode(&node, to, after.data(), after.size(), parameters.get());
    return node;
  }
  cudaGraphNode_t counter(cudaGraph_t to, std::vector<cudaGraphNode_t> after = {}) {
    const cudaHostNodeParams parameters{count_down, &countdown};
    cudaGraphNode_t node = nullptr;
    cudaGraphAddHostNode(&node, to, after.data(), after.size(), &parameters);
    return node;
  }
  Names launched(unsigned count) {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    const std::size_t before = log().size();
    countdown.left = count;
    EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    Names names = log();
    names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(before));
    std::erase(names, "host function");
    return names;
  }
  FakeKernel add{"add"};
  Countdown countdown;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr, body = nullptr;
};

TEST_P(Conditionals, AnIfNodeRunsItsFirstBodyOrElseItsSecond) {
  const cudaGraphNode_t first = counter(graph);
  kernel(graph, {conditional(cudaGraphCondTypeIf, 2, {first})}, 7);
  EXPECT_EQ(launched(3), Names({"add 0", "add 7"}));
  EXPECT_EQ(launched(1), Names({"add 1", "add 7"}));
}

TEST_P(Conditionals, AWhileNodeRunsUntilTheConditionIsZero) {
  kernel(graph, {conditional(cudaGraphCondTypeWhile, 1)}, 7);
  counter(body);
  EXPECT_EQ(launched(3), Names({"add 0", "add 0", "add 0", "add 7"}));
  EXPECT_EQ(launched(1), Names({"add 0", "add 7"}));
}

TEST_P(Conditionals, ASwitchNodeRunsTheBodyOfThatNumberIfThereIsOne) {
  conditional(cudaGraphCondTypeSwitch, 3, {counter(graph)});
  EXPECT_EQ(launched(3), Names({"add 2"}));
  EXPECT_EQ(launched(4), Names());
}

TEST_P(Conditionals, AConditionOfAnotherGraphIsRefused) {
  cudaGraph_t other = nullptr;
  cudaGraphCreate(&other, 0);
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = countdown.condition;
  parameters.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &parameters),
            cudaErrorInvalidValue);
  EXPECT_FALSE(set_condition(12345, 1));
}

INSTANTIATE_TEST_SUITE_P(EagerAndLazy, Conditionals, testing::Bool());

void destroyed(void* count) { ++*static_cast<int*>(count); }

TEST(UserObjects, LiveAsLongAsTheProgramOrAGraphRefersToThem) {
  restart();
  int count = 0;
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  cudaUserObject_t object = nullptr;
  ASSERT_EQ(cudaUserObjectCreate(&object, &count, destroyed, 1, cudaUserObjectNoDestructorSync),
            cudaSuccess);
  EXPECT_EQ(cudaUserObjectRetain(object, 2), cudaSuccess);
  EXPECT_EQ(cudaUserObjectRelease(object, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphRetainUserObject(graph, object, 1, 0), cudaSuccess);
  EXPECT_EQ(cudaUserObjectRelease(object, 3), cudaSuccess);
  EXPECT_EQ(count, 0);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphReleaseUserObject(graph, object, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cudaUserObjectRetain(object, 1), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace halfgrad::emulator
