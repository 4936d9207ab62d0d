// Conditional nodes: if with an else, while, and switch, whose bodies launch kernels.
#include "../right.h"

__global__ void set_from(const int* x, cudaGraphConditionalHandle condition) {
  cudaGraphSetConditional(condition, static_cast<unsigned>(*x));
}
__global__ void add(int* x, int amount) { *x += amount; }
__global__ void count_down(int* x, cudaGraphConditionalHandle condition) {
  *x -= 1;
  cudaGraphSetConditional(condition, *x > 0);
}

cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t* after, void* kernel,
                           void** arguments) {
  cudaGraphNodeParams launch = {cudaGraphNodeTypeKernel};
  launch.kernel.func = kernel;
  launch.kernel.gridDim = launch.kernel.blockDim = dim3(1);
  launch.kernel.kernelParams = arguments;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, after, nullptr, after == nullptr ? 0 : 1, &launch));
  return node;
}

// Returns the bodies.
cudaGraph_t* add_conditional(cudaGraph_t graph, cudaGraphNode_t* after,
                             cudaGraphConditionalHandle condition,
                             cudaGraphConditionalNodeType type, unsigned bodies) {
  cudaGraphNodeParams choice = {cudaGraphNodeTypeConditional};
  choice.conditional.handle = condition;
  choice.conditional.type = type;
  choice.conditional.size = bodies;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, after, nullptr, after == nullptr ? 0 : 1, &choice));
  return choice.conditional.phGraph_out;
}

// Launches the graph for each input, and destroys it.
std::vector<int> results_of(cudaGraph_t graph, int* x, int* sum, const std::vector<int>& inputs) {
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  std::vector<int> results;
  for (const int input : inputs) {
    CHECK(cudaMemcpy(x, &input, sizeof input, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(sum, 0, sizeof(int)));
    CHECK(cudaGraphLaunch(exec, nullptr));
    settle();
    results.push_back(values(sum, 1)[0]);
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  return results;
}

int main() {
  Buffer<int> x(1), sum(1);
  int amounts[] = {1, 10, 100};
  for (const auto type : {cudaGraphCondTypeIf, cudaGraphCondTypeSwitch}) {
    cudaGraph_t graph;
    cudaGraphConditionalHandle condition;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&condition, graph));
    void* arguments[] = {&x.data, &condition};
    cudaGraphNode_t first = add_kernel(graph, nullptr, (void*)set_from, arguments);
    const unsigned bodies = type == cudaGraphCondTypeIf ? 2 : 3;
    cudaGraph_t* const body = add_conditional(graph, &first, condition, type, bodies);
    for (unsigned i = 0; i < bodies; ++i) {
      void* inside[] = {&sum.data, &amounts[i]};
      add_kernel(body[i], nullptr, (void*)add, inside);
    }
    const auto results = results_of(graph, x.data, sum.data, {0, 1, 2, 3});
    const bool is_if = type == cudaGraphCondTypeIf;
    EXPECT(results == (is_if ? std::vector<int>{10, 1, 1, 1} : std::vector<int>{1, 10, 100, 0}));
  }

  cudaGraph_t graph;
  cudaGraphConditionalHandle condition;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault));
  cudaGraph_t* const body = add_conditional(graph, nullptr, condition, cudaGraphCondTypeWhile, 1);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCaptureToGraph(stream, body[0], nullptr, nullptr, 0,
                                      cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(sum.data, 5);
  count_down<<<1, 1, 0, stream>>>(x.data, condition);
  CHECK(cudaStreamEndCapture(stream, nullptr));
  CHECK(cudaStreamDestroy(stream));
  EXPECT((results_of(graph, x.data, sum.data, {4, 1}) == std::vector<int>{20, 5}));
}
