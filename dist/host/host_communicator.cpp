#include <halfgrad/dist/host/host_communicator.h>

#include <chrono>
#include <exception>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/dist/arguments.h>
#include <halfgrad/dist/host/collectives.h>
#include <halfgrad/dist/host/message_memory.h>

namespace halfgrad::dist {
namespace {

Call call_of(Collective collective, const Array& input) {
  return {.count = input.numel(),
          .collective = collective,
          .dtype = static_cast<std::int32_t>(input.dtype())};
}

std::size_t bytes_of(const Array& array) {
  return static_cast<std::size_t>(array.numel() * item_size(array.dtype()));
}

}  // namespace

HostCommunicator::HostCommunicator(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), thread_([this] { run(); }) {}

HostCommunicator::~HostCommunicator() {
  const bool is_thrown = std::uncaught_exceptions() > 0;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  if (is_thrown) transport_->interrupt();
  job_arrived_.notify_one();
  thread_.join();
  transport_->leave(
      is_thrown ? "its program threw an exception" : "its program has destroyed the communicator",
      is_thrown);
}

Array HostCommunicator::empty(const Shape& sizes, DType dtype, Device device) {
  if (device != Device()) return Array::empty(sizes, dtype, device);
  return transport_->empty(sizes, dtype);
}

Work HostCommunicator::all_reduce(const Array& array, ReduceOp op) {
  expect_all_reduce(array, op);
  Call call = call_of(Collective::all_reduce, array);
  call.op = static_cast<std::int32_t>(op);
  return launch(call, array, array,
                [this, n = array.numel(), dtype = array.dtype(), op](std::byte* data, auto*) {
                  dist::all_reduce(*transport_, data, n, dtype, op);
                });
}

Work HostCommunicator::reduce_scatter(const Array& output, const Array& input, ReduceOp op) {
  expect_reduce_scatter(output, input, op, size(), rank());
  Call call = call_of(Collective::reduce_scatter, input);
  call.op = static_cast<std::int32_t>(op);
  return launch(
      call, output, input,
      [this, n = output.numel(), dtype = input.dtype(), op](std::byte* out, const std::byte* in) {
        dist::reduce_scatter(*transport_, out, in, n, dtype, op);
      });
}

Work HostCommunicator::all_gather(const Array& output, const Array& input) {
  expect_all_gather(output, input, size(), rank());
  return launch(call_of(Collective::all_gather, input), output, input,
                [this, bytes = bytes_of(input)](std::byte* out, const std::byte* in) {
                  dist::all_gather(*transport_, out, in, bytes);
                });
}

Work HostCommunicator::broadcast(const Array& array, int root) {
  expect_broadcast(array, root, size());
  Call call = call_of(Collective::broadcast, array);
  call.root = root;
  return launch(call, array, array, [this, bytes = bytes_of(array), root](std::byte* data, auto*) {
    dist::broadcast(*transport_, data, bytes, root);
  });
}

void HostCommunicator::barrier() {
  const Array none = Array::empty({0}, kUInt8);
  launch(call_of(Collective::barrier, none), none, none, [](auto*, auto*) {}).wait();
}

Work HostCommunicator::launch(Call call, const Array& output, const Array& input,
                              Algorithm algorithm) {
  if (Graph::is_capturing()) {
    halfgrad::detail::fail<std::runtime_error>(
        name(call.collective),
        "expected no capture, since the host takes part in this communicator's collectives; "
        "capture those of make_nccl_communicators(), or call it between replays");
  }
  auto work = std::make_shared<HostWork>(input.device(), transport_->waiting_threads());
  {
    const std::lock_guard lock(mutex_);
    if (!broken_.empty()) throw CommunicationError(broken_);
    call.number = ++calls_;
    jobs_.push_back({call, output, input, std::move(algorithm), work});
  }
  job_arrived_.notify_one();
  return Work(std::move(work));
}

void HostCommunicator::run() {
  while (std::optional<Job> job = next_job()) execute(*job);
}

std::optional<HostCommunicator::Job> HostCommunicator::next_job() {
  std::unique_lock lock(mutex_);
  while (jobs_.empty()) {
    if (stopping_) return std::nullopt;
    job_arrived_.wait_for(lock, std::chrono::milliseconds(100));
    if (!jobs_.empty() || !broken_.empty()) continue;
    lock.unlock();
    const std::string error = idle();
    lock.lock();
    if (!error.empty()) broken_ = error;
  }
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

// Returns the text of an error, else an empty one.
std::string HostCommunicator::idle() {
  try {
    transport_->idle();
    return "";
  } catch (const std::exception& error) {
    return "on " + name_of(rank()) + ": " + error.what();
  }
}

void HostCommunicator::execute(Job& job) {
  if (!broken_.empty()) return job.work->fail(broken_);  // only this thread changes it
  job.start = std::chrono::steady_clock::now();
  try {
    const MessageMemory input(job.input), output(job.output);
    expect_same_call(*transport_, job.call);
    job.input.device().is_cuda() ? on_gpu(job) : on_host(job);
  } catch (const std::exception& error) {
    give_up(job, to_string(job.call) + ", on " + name_of(rank()) + ": " + error.what());
  }
}

void HostCommunicator::on_host(const Job& job) {
  job.algorithm(job.output.data(), job.input.data());
  end(job);
}

void HostCommunicator::on_gpu(const Job& job) {
  const Device device = job.input.device();
  const Stream stream = streams_.try_emplace(device, device).first->second.get();
  const StreamScope scope(stream);
  job.work->begin();

  const bool in_place =
      job.input.data() == job.output.data() && job.input.numel() == job.output.numel();
  const MessageMemory input(Array::empty_pinned({job.input.numel()}, job.input.dtype()));
  const MessageMemory output(
      in_place ? input.array() : Array::empty_pinned({job.output.numel()}, job.output.dtype()));
  input.array().copy_(job.input.reshape({-1}));
  stream.synchronize();
  job.algorithm(output.data(), input.data());
  job.output.reshape({-1}).copy_(output.array());
  job.input.record_stream(stream);
  job.output.record_stream(stream);
  end(job);
}

void HostCommunicator::end(const Job& job) {
  if (!observers_.is_empty()) {
    observers_.notify({.name = name(job.call.collective),
                       .call = to_string(job.call),
                       .start = job.start,
                       .end = std::chrono::steady_clock::now()});
  }
  job.work->end();
}

void HostCommunicator::give_up(const Job& job, const std::string& error) {
  {
    const std::lock_guard lock(mutex_);
    broken_ = error;
  }
  transport_->leave(error, true);
  job.work->fail(error);
}

}  // namespace halfgrad::dist
