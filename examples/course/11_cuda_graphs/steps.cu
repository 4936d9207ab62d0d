/// Three ways to run the training step of chapter 11, for halfgrad-emulate:
///
///     steps host      the host reads found_inf and chooses the scale: one wait a step
///     steps device    scale, found_inf and learning rate are in device memory: no wait
///     steps graph     the second, captured once and replayed
///     steps refused   tries to capture the first; prints the error of CUDA and returns 0
///
/// Each trains w in y = w x for 100 steps and prints w, the scale and the number of skipped steps.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

namespace {

constexpr int kSteps = 100, kGrowthInterval = 20;

/// Everything that changes from step to step, in device memory.
struct State {
  int step;
  float x, y;  // the batch: one sample
  float w, gradient, scaled_gradient;
  float scale, learning_rate;
  int found_inf, good_steps, skipped;
};

/// Sample `step`, computed: y = 3 x. Sample 30 is broken.
__global__ void load_batch(State* s) {
  s->x = 0.5f + 0.125f * static_cast<float>(s->step % 4);
  s->y = s->step == 30 ? INFINITY : 3 * s->x;
  ++s->step;
}
__global__ void backward(State* s) { s->scaled_gradient = (s->w * s->x - s->y) * s->x * s->scale; }
__global__ void backward(State* s, float scale) {
  s->scaled_gradient = (s->w * s->x - s->y) * s->x * scale;
}
__global__ void check(State* s) { s->found_inf = !isfinite(s->scaled_gradient); }
__global__ void update(State* s) {
  if (s->found_inf) return;
  s->w -= s->learning_rate * (s->scaled_gradient / s->scale);
}
__global__ void update(State* s, float scale, float learning_rate) {
  s->w -= learning_rate * (s->scaled_gradient / scale);
}
__global__ void update_scale(State* s) {
  if (s->found_inf) {
    s->scale *= 0.5f;
    s->good_steps = 0;
    ++s->skipped;
  } else if (++s->good_steps == kGrowthInterval) {
    s->scale *= 2;
    s->good_steps = 0;
  }
  s->learning_rate *= 0.98f;  // the schedule
}

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "steps: %s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

/// The scaler and the schedule of `host`, in the host's memory.
struct HostState {
  float scale = 1024, learning_rate = 0.2f;
  int good_steps = 0, skipped = 0;
};

/// Returns the error of the first call that failed.
cudaError_t host_step(State* device, HostState* host, cudaStream_t stream) {
  load_batch<<<1, 1, 0, stream>>>(device);
  backward<<<1, 1, 0, stream>>>(device, host->scale);
  check<<<1, 1, 0, stream>>>(device);
  int found_inf = 0;
  const cudaError_t error = cudaMemcpyAsync(&found_inf, &device->found_inf, sizeof found_inf,
                                            cudaMemcpyDeviceToHost, stream);
  if (error != cudaSuccess) return error;
  const cudaError_t waited = cudaStreamSynchronize(stream);
  if (waited != cudaSuccess) return waited;
  if (found_inf) {
    host->scale *= 0.5f;
    host->good_steps = 0;
    ++host->skipped;
  } else {
    update<<<1, 1, 0, stream>>>(device, host->scale, host->learning_rate);
    if (++host->good_steps == kGrowthInterval) {
      host->scale *= 2;
      host->good_steps = 0;
    }
  }
  host->learning_rate *= 0.98f;
  return cudaGetLastError();
}

void device_step(State* device, cudaStream_t stream) {
  load_batch<<<1, 1, 0, stream>>>(device);
  backward<<<1, 1, 0, stream>>>(device);
  check<<<1, 1, 0, stream>>>(device);
  update<<<1, 1, 0, stream>>>(device);
  update_scale<<<1, 1, 0, stream>>>(device);
  check(cudaGetLastError(), "launch");
}

void run_graph(State* device, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin capture");
  device_step(device, stream);
  check(cudaStreamEndCapture(stream, &graph), "end capture");
  check(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
  for (int step = 0; step < kSteps; ++step) check(cudaGraphLaunch(exec, stream), "graph launch");
  check(cudaStreamSynchronize(stream), "synchronize");
  check(cudaGraphExecDestroy(exec), "destroy");
  check(cudaGraphDestroy(graph), "destroy");
}

void try_capture_of_host_step(State* device, HostState* host, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin capture");
  const cudaError_t error = host_step(device, host, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGetLastError();
  std::printf("capture: %s\n", cudaGetErrorName(error));
}

}  // namespace

int main(int argc, char** argv) {
  const char* const way = argc == 2 ? argv[1] : "";
  State first{};
  HostState host;
  first.scale = host.scale;
  first.learning_rate = host.learning_rate;
  State* device = nullptr;
  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "stream");
  check(cudaMalloc(&device, sizeof(State)), "cudaMalloc");
  check(cudaMemcpy(device, &first, sizeof first, cudaMemcpyHostToDevice), "cudaMemcpy");
  if (std::strcmp(way, "host") == 0) {
    for (int step = 0; step < kSteps; ++step) check(host_step(device, &host, stream), "step");
  } else if (std::strcmp(way, "device") == 0) {
    for (int step = 0; step < kSteps; ++step) device_step(device, stream);
  } else if (std::strcmp(way, "graph") == 0) {
    run_graph(device, stream);
  } else if (std::strcmp(way, "refused") == 0) {
    try_capture_of_host_step(device, &host, stream);
  } else {
    std::printf("steps host|device|graph|refused: trains one weight in a way of chapter 11\n");
    return std::strcmp(way, "--help") == 0 ? 0 : 2;
  }
  State last{};
  check(cudaMemcpy(&last, device, sizeof last, cudaMemcpyDeviceToHost), "cudaMemcpy");
  const bool on_host = std::strcmp(way, "host") == 0;
  std::printf("w %.9g scale %g skipped %d\n", last.w, on_host ? host.scale : last.scale,
              on_host ? host.skipped : last.skipped);
  check(cudaFree(device), "cudaFree");
  check(cudaStreamDestroy(stream), "stream");
  return 0;
}
