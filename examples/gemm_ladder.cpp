// Times one matrix product with kernels that each add one idea, and prints which share of its bound
// each kernel reaches. docs/gemm_ladder.md explains these rungs.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <halfgrad/core/array.h>
#include <halfgrad/core/device_properties.h>
#include <halfgrad/core/gemm.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/table.h>
#include <halfgrad/programs/terminal.h>

#include "gemm_ladder/libraries.h"
#include "gemm_ladder/loops.h"
#include "gemm_ladder/roofline.h"

namespace hg = halfgrad;

namespace {

struct Options {
  int steps = 20, size = 0;
};

struct Rung {
  std::string name;
  ladder::Bound bound;
  std::function<void(const hg::Array& a, const hg::Array& b, const hg::Array& c)> multiply;
  std::int64_t rows = 0;  // rows of C that are computed and timed; 0: all
};

hg::MutableMatrixView view(const hg::Array& array) {
  return {array.data(),  array.dtype(), array.size(0), array.size(1), array.size(1), 1,
          array.device()};
}

void multiply_by_halfgrad(const hg::Array& a, const hg::Array& b, const hg::Array& c) {
  hg::gemm(1, view(a), view(b), 0, view(c));
}

// A rung that runs halfgrad's gemm on the GPU, with the given kernel.
Rung on_gpu(const char* name, const ladder::Bound& bound, hg::GemmBackend backend) {
  return {name, bound, [backend](const hg::Array& a, const hg::Array& b, const hg::Array& c) {
            hg::set_gemm_backend(backend);
            multiply_by_halfgrad(a, b, c);
            hg::set_gemm_backend(hg::GemmBackend::automatic);
          }};
}

// A rung that runs a function of plain pointers on the CPU.
template <class F>
Rung on_cpu(const char* name, const ladder::Bound& bound, F multiply, std::int64_t rows = 0) {
  return {name, bound,
          [multiply](const hg::Array& a, const hg::Array& b, const hg::Array& c) {
            multiply(c.size(0), c.size(1), a.size(1), a.data_as<float>(), b.data_as<float>(),
                     c.data_as<float>());
          },
          rows};
}

// The reference. It is slow, so only a few rows of C are computed and timed.
Rung triple_loop(double peak, std::int64_t n) {
  constexpr std::int64_t kMultiplyAdds = 1 << 24;
  return on_cpu("triple loop", {peak, "CPU's arithmetic"}, ladder::triple_loop,
                std::clamp<std::int64_t>(kMultiplyAdds / (n * n), 1, n));
}

// Throws unless the rung gives the reference's bits. The operands are small integers, so every sum
// is exact in whatever order it is computed. No size is a multiple of a kernel's tiles.
void check(const Rung& rung, hg::DType dtype, hg::Device device) {
  constexpr std::int64_t kM = 200, kN = 136, kK = 72;
  const hg::Array a = hg::Array::empty({kM, kK}, hg::kFloat32);
  const hg::Array b = hg::Array::empty({kK, kN}, hg::kFloat32);
  const hg::Array expected = hg::Array::empty({kM, kN}, hg::kFloat32);
  hg::random::integer(a, -4, 5, {.seed = 1});
  hg::random::integer(b, -4, 5, {.seed = 2});
  ladder::triple_loop(kM, kN, kK, a.data_as<float>(), b.data_as<float>(),
                      expected.data_as<float>());
  const hg::Array c = hg::Array::empty({kM, kN}, hg::kFloat32, device);
  rung.multiply(a.to(dtype).to(device), b.to(dtype).to(device), c);
  const hg::Array computed = c.to(hg::Device());
  for (std::int64_t i = 0; i < kM * kN; ++i) {
    const float right = expected.data_as<float>()[i], got = computed.data_as<float>()[i];
    if (got == right) continue;
    throw std::runtime_error(
        fmt::format("{}: expected c[{}, {}] = {} as of the triple loop, got {}", rung.name, i / kN,
                    i % kN, right, got));
  }
}

// Seconds per call, after one call to warm up. On a GPU all calls are queued at once, and the
// result is their mean. On a CPU it is the fastest call, since other processes use the CPU, too.
double seconds_per_call(hg::Device device, int steps, const std::function<void()>& f) {
  f();
  const hg::Stream stream = hg::current_stream(device);
  const int calls = device.is_cuda() ? steps : 1;
  double fastest = std::numeric_limits<double>::infinity();
  for (int step = 0; step < steps; step += calls) {
    hg::Event start(true), end(true);
    start.record(stream);
    for (int call = 0; call < calls; ++call) f();
    end.record(stream);
    end.synchronize();
    fastest = std::min(fastest, start.elapsed_time(end) / 1e3 / calls);
  }
  return fastest;
}

double measured_flops(const Rung& rung, std::int64_t n, hg::DType dtype, hg::Device device,
                      int steps) {
  const std::int64_t rows = rung.rows > 0 ? rung.rows : n;
  const hg::Array a = hg::Array::empty({rows, n}, dtype, device);
  const hg::Array b = hg::Array::empty({n, n}, dtype, device);
  const hg::Array c = hg::Array::empty({rows, n}, hg::kFloat32, device);
  hg::random::uniform(a, -1, 1, {.seed = 3});
  hg::random::uniform(b, -1, 1, {.seed = 4});
  const double seconds = seconds_per_call(device, steps, [&] { rung.multiply(a, b, c); });
  return 2.0 * static_cast<double>(rows * n * n) / seconds;
}

std::string gigaflops(double flops) {
  return flops > 0 ? fmt::format("{:.{}f}", flops / 1e9,
                                 flops < 1e10   ? 2
                                 : flops < 1e12 ? 1
                                                : 0)
                   : "-";
}
std::string share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

// Describes the GPU, with the figures from which its bounds are computed.
std::string description(const hg::cuda::DeviceProperties& gpu) {
  const std::string machine =
      fmt::format("{}: {} multiprocessors at {:.2f} GHz, memory {:.2f} TB/s.", gpu.name,
                  gpu.multi_processor_count, gpu.clock_rate / 1e9, gpu.memory_bandwidth / 1e12);
  const ladder::Rates rates = ladder::rates_of(gpu.major, gpu.minor);
  if (rates.f32 == 0) {
    return fmt::format("{} The bounds of compute capability {}.{} are not known.", machine,
                       gpu.major, gpu.minor);
  }
  return fmt::format(
      "{} A multiprocessor starts {} multiply-adds in f32, {} on tensor cores and {} loads of 4 "
      "bytes a clock.",
      machine, rates.f32, rates.tensor_core, ladder::kLoads);
}

class Ladder {
 public:
  // `device_flops` is the highest bound of the device; 0 for a CPU, whose kernels share one bound.
  Ladder(const Options& options, std::int64_t n, double device_flops)
      : steps_(options.steps), n_(n), device_flops_(device_flops), table_(columns(device_flops)) {
    fmt::print("\n");
    table_.print_header();
  }

  void climb(const Rung& rung, hg::DType dtype, hg::Device device) const {
    check(rung, dtype, device);
    const double flops = measured_flops(rung, n_, dtype, device, steps_);
    std::vector<std::string> cells{rung.name, gigaflops(flops), gigaflops(rung.bound.flops),
                                   share(flops, rung.bound.flops), rung.bound.reason};
    if (device_flops_ > 0) cells.push_back(share(flops, device_flops_));
    table_.print_row(cells);
  }
  void end() const { table_.print_left_out(); }

 private:
  static std::vector<programs::Column> columns(double device_flops) {
    std::vector<programs::Column> columns{{"kernel", 11, 0, true},
                                          {"GFLOP/s", 8},
                                          {"bound", 8},
                                          {"of bound", 8},
                                          {"bounded by", 27, 1, true}};
    if (device_flops > 0) columns.push_back({"of device", 9, 2});
    return columns;
  }

  int steps_;
  std::int64_t n_;
  double device_flops_;
  programs::Table table_;
};

void run_on_cpu(const Options& options, double peak) {
  const std::int64_t n = options.size > 0 ? options.size : 512;
  programs::print_wrapped(fmt::format(
      "The CPU multiplies [{0}, {0}] by [{0}, {0}] in float32, since there is no GPU: {1}. "
      "Threads: "
      "{2}. The bound is measured: every thread multiplies and adds in registers, and touches no "
      "memory. The triple loop runs on one of them.",
      n, hg::cuda::why_unavailable(), hg::get_num_threads()));
  const ladder::Bound bound{peak, "CPU's arithmetic"};
  const Ladder ladder(options, n, 0);
  ladder.climb(triple_loop(peak, n), hg::kFloat32, {});
  if (ladder::has_blas()) {
    ladder.climb(on_cpu("BLAS", bound, ladder::multiply_by_blas), hg::kFloat32, {});
  }
  if (ladder::has_eigen()) {
    ladder.climb(on_cpu("Eigen", bound, ladder::multiply_by_eigen), hg::kFloat32, {});
  }
  ladder.climb({"halfgrad", bound, multiply_by_halfgrad}, hg::kFloat32, {});
  ladder.end();
}

void run_on_gpu(const Options& options, double cpu_peak) {
  const std::int64_t n = options.size > 0 ? options.size : 4096;
  const hg::cuda::DeviceProperties gpu = hg::cuda::get_device_properties();
  const ladder::Roofline roofline(gpu, n);
  programs::print_wrapped(description(gpu));
  fmt::print("\n");
  programs::print_wrapped(
      fmt::format("It multiplies [{0}, {0}] by [{0}, {0}] of float16, and adds in float32. The "
                  "triple loop runs "
                  "on one thread of the CPU, whose bound is measured.",
                  n));
  const Ladder ladder(options, n, roofline.cublaslt().flops);
  ladder.climb(triple_loop(cpu_peak, n), hg::kFloat32, {});
  for (const Rung& rung :
       {on_gpu("naive", roofline.naive(), hg::GemmBackend::naive_lesson),
        on_gpu("tiled", roofline.tiled(), hg::GemmBackend::tiled_lesson),
        on_gpu("tensor core", roofline.tensor_core(), hg::GemmBackend::tensor_core_lesson),
        on_gpu("cuBLASLt", roofline.cublaslt(), hg::GemmBackend::cublaslt)}) {
    ladder.climb(rung, hg::kFloat16, hg::kCUDA);
  }
  ladder.end();
}

}  // namespace

int main(int argc, char** argv) {
  programs::CommandLine app("gemm_ladder",
                            "Multiplies matrices by kernels from the plainest to the fastest.");
  Options options;
  app.add_option("--steps", options.steps, "Products that are timed with each kernel")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--size", options.size, "Rows and columns of each matrix: 4096 on a GPU, else 512")
      ->check(CLI::Range(1, 1 << 14));
  app.parse_or_exit(argc, argv);
  return programs::run("gemm_ladder", [&] {
    const double peak = ladder::measured_peak();
    if (hg::cuda::is_available()) {
      run_on_gpu(options, peak);
    } else {
      run_on_cpu(options, peak);
    }
    return 0;
  });
}
