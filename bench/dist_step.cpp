// Measures what averaging gradients adds to a training step of four layers of 1024 features:
//
//   HALFGRAD_NUM_THREADS=1 mpirun -n 2 build/cpu/bin/bench_dist_step 512
//
// In turns, rank 0 trains alone with its part of the batch, then every rank trains a model of its
// own at the same time, then all train one model together: by messages, and in shared memory, if
// the ranks are on one machine. The figures are times of a step divided by that alone: `apart`
// shows what the ranks cost each other by sharing a processor's caches, memory and clock, the other
// two add the averages. On a machine with other work, look at the processor time of rank 0, which
// includes the thread of its communicator.
//
// With the name of a file as second argument, rank 0 then writes a trace of three more steps to it:
// its track "communication" has the averages, beside those of the ops.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <vector>

#include <halfgrad/dist/data_parallel.h>
#include <halfgrad/dist/init_process_group.h>
#include <halfgrad/halfgrad.h>
#include <halfgrad/report/trace/trace_writer.h>

namespace {

namespace hg = halfgrad;

constexpr std::int64_t kWidth = 1024;
constexpr int kRounds = 7, kSteps = 5;

hg::nn::Sequential make_model() {
  using hg::nn::Linear, hg::nn::ReLU;
  return hg::nn::Sequential(Linear(kWidth, kWidth), ReLU(), Linear(kWidth, kWidth), ReLU(),
                            Linear(kWidth, kWidth), ReLU(), Linear(kWidth, kWidth));
}

// Milliseconds of a step.
struct Time {
  double wall = 0, processor = 0;
};

class Trainer {
 public:
  explicit Trainer(std::int64_t rows)
      : x_(hg::randn({rows, kWidth})), y_(hg::randn({rows, kWidth})) {}

  template <class Model>
  void step(const Model& model, hg::optim::Optimizer& optimizer) const {
    optimizer.zero_grad();
    hg::mse_loss(model(x_), y_).backward();
    optimizer.step();
  }

  template <class Model>
  Time time(const Model& model, hg::optim::Optimizer& optimizer) const {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t processor = std::clock();
    for (int i = 0; i < kSteps; ++i) step(model, optimizer);
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
    const auto used = static_cast<double>(std::clock() - processor);
    return {wall.count() / kSteps, used * 1000 / CLOCKS_PER_SEC / kSteps};
  }

 private:
  hg::Tensor x_, y_;
};

double median(const std::vector<Time>& times, double Time::*member) {
  std::vector<double> values;
  for (const Time& time : times) values.push_back(time.*member);
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Times {
  std::vector<Time> alone, apart, messages, shared;
};

void print(const char* name, const Times& times, double Time::*member) {
  const double alone = median(times.alone, member);
  std::printf("%-10s alone %8.2f ms", name, alone);
  const auto print_ratio = [&](const char* kind, const std::vector<Time>& of_kind) {
    const double time = median(of_kind, member);
    std::printf(", %s %8.2f ms (%.3f)", kind, time, time / alone);
  };
  print_ratio("apart", times.apart);
  print_ratio("messages", times.messages);
  print_ratio("shared", times.shared);
  std::printf("\n");
}

using Parallel = hg::dist::DataParallel<hg::nn::Sequential>;

void trace_steps(const char* file, const Trainer& trainer, const Parallel& model,
                 hg::optim::Optimizer& optimizer, hg::dist::Communicator& communicator) {
  hg::report::TraceWriter trace(file);
  const auto spans = communicator.watch([&](const hg::dist::CollectiveSpan& span) {
    trace.slice("communication", span.name, span.start, span.end, {{"call", span.call}});
  });
  const auto steps = trace.watch(optimizer);
  const hg::OpObserverGuard guard(trace);
  for (int i = 0; i < 3; ++i) {
    trainer.step(model, optimizer);
    trace.end_step();
  }
  trace.write();
}

void measure(std::int64_t batch, const char* trace_file) {
  const auto communicator = hg::dist::init_process_group();
  const auto messenger = hg::dist::init_process_group({.shared_memory = false});
  const std::int64_t rows = std::max<std::int64_t>(batch / communicator->size(), 1);
  hg::manual_seed(0);
  const Parallel parallel(make_model(), communicator), by_messages(make_model(), messenger);
  const hg::nn::Sequential plain = make_model();
  hg::optim::SGD of_plain(plain.parameters(), {.lr = 1e-3});
  hg::optim::SGD of_parallel(parallel.parameters(), {.lr = 1e-3});
  hg::optim::SGD of_by_messages(by_messages.parameters(), {.lr = 1e-3});
  const Trainer trainer(rows);

  Times times;
  for (int round = 0; round <= kRounds; ++round) {
    communicator->barrier();
    const Time one = communicator->rank() == 0 ? trainer.time(plain, of_plain) : Time();
    communicator->barrier();
    const Time apart = trainer.time(plain, of_plain);
    communicator->barrier();
    const Time messages = trainer.time(by_messages, of_by_messages);
    communicator->barrier();
    const Time shared = trainer.time(parallel, of_parallel);
    if (round == 0) continue;  // warm-up
    times.alone.push_back(one);
    times.apart.push_back(apart);
    times.messages.push_back(messages);
    times.shared.push_back(shared);
  }
  if (trace_file != nullptr && communicator->rank() == 0) {
    trace_steps(trace_file, trainer, parallel, of_parallel, *communicator);
  } else if (trace_file != nullptr) {
    for (int i = 0; i < 3; ++i) trainer.step(parallel, of_parallel);
  }
  if (communicator->rank() != 0) return;
  std::printf("%d ranks, %lld rows each, %d threads; medians of %d rounds\n", communicator->size(),
              static_cast<long long>(rows), hg::get_num_threads(), kRounds);
  print("time", times, &Time::wall);
  print("processor", times, &Time::processor);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::int64_t batch = argc > 1 ? std::atoll(argv[1]) : 512;
    if (argc > 3 || batch < 1) {
      std::fprintf(stderr,
                   "usage: bench_dist_step [rows of the batch of all ranks [trace file]]\n");
      return 2;
    }
    measure(batch, argc > 2 ? argv[2] : nullptr);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_dist_step: %s\n", error.what());
    return 1;
  }
}
