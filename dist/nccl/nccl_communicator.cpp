#include <halfgrad/dist/nccl/nccl_communicator.h>

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include <nccl.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/dist/arguments.h>
#include <halfgrad/dist/nccl/combine_ranks.h>

namespace halfgrad::dist {
namespace {

constexpr std::int64_t kSmallBytes = 64 << 10;

class NcclWork final : public Work::State {
 public:
  NcclWork(Device device, std::shared_ptr<const Event> end, std::shared_ptr<Failure> failure)
      : device_(device),
        end_(std::move(end)),
        failure_(std::move(failure)),
        is_captured_(Graph::is_capturing()) {}

  void wait() override {
    failure_->throw_any();
    current_stream(device_).wait_event(*end_);
  }
  bool is_completed() override {
    failure_->throw_any();
    if (is_captured_) {
      halfgrad::detail::fail<std::logic_error>(
          "is_completed", "expected a collective that runs, got one that a graph captured");
    }
    const bool done = end_->query();
    failure_->throw_any();  // an abort ends the work, too
    return done;
  }

 private:
  const Device device_;
  const std::shared_ptr<const Event> end_;
  const std::shared_ptr<Failure> failure_;
  const bool is_captured_;
};

std::size_t bytes_of(const Array& array) {
  return static_cast<std::size_t>(array.numel() * item_size(array.dtype()));
}

Call call_of(Collective collective, const Array& input) {
  return {.count = input.numel(),
          .collective = collective,
          .dtype = static_cast<std::int32_t>(input.dtype())};
}

Call call_of(Collective collective, const Array& input, ReduceOp op) {
  Call call = call_of(collective, input);
  call.op = static_cast<std::int32_t>(op);
  return call;
}

// Part `rank` of an array of `size` equal parts.
Array part_of(const Array& flat, int rank, int size) {
  const std::int64_t n = flat.numel() / size;
  return flat.slice(0, rank * n, (rank + 1) * n);
}

}  // namespace

NcclCommunicator::NcclCommunicator(ncclComm* comm, Device device, std::vector<std::string> names,
                                   int rank, std::chrono::milliseconds timeout)
    : device_(device),
      names_(std::move(names)),
      rank_(rank),
      stream_(device),
      connection_(comm, name_of(rank), timeout) {}

NcclCommunicator::~NcclCommunicator() {
  const DeviceGuard guard(device_);
  try {
    if (std::uncaught_exceptions() > 0) connection_.abort(name_of(rank_) + " threw an exception");
    // Asks instead of waiting: the connection must be able to abort what never ends.
    Event end;
    end.record(stream_.get());
    while (!end.query()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } catch (const std::exception& error) {
    connection_.abort(name_of(rank_) + ": " + error.what());
  }
}

Work NcclCommunicator::all_reduce(const Array& array, ReduceOp op) {
  expect_all_reduce(array, op);
  return launch(call_of(Collective::all_reduce, array, op), {&array}, [&](const std::string& call) {
    if (size() == 1) return;
    const Array flat = array.reshape({-1});
    const std::int64_t n = flat.numel();
    const bool is_small = bytes_of(flat) <= static_cast<std::size_t>(kSmallBytes);
    const std::int64_t in_parts = is_small ? 0 : n - n % size();
    if (in_parts > 0) reduce_by_parts(call, flat.slice(0, 0, in_parts), op);
    if (in_parts < n) reduce_whole(call, flat.slice(0, in_parts, n), op);
  });
}

Work NcclCommunicator::reduce_scatter(const Array& output, const Array& input, ReduceOp op) {
  expect_reduce_scatter(output, input, op, size(), rank());
  const Call call = call_of(Collective::reduce_scatter, input, op);
  return launch(call, {&output, &input}, [&](const std::string& text) {
    const Array flat = output.reshape({-1});
    if (size() > 1) return combine_ranks(op, exchange_parts(text, input.reshape({-1})), flat);
    if (output.data() != input.data()) flat.copy_(input.reshape({-1}));
  });
}

Work NcclCommunicator::all_gather(const Array& output, const Array& input) {
  expect_all_gather(output, input, size(), rank());
  return launch(call_of(Collective::all_gather, input), {&output, &input},
                [&](const std::string& call) { gather(call, output, input); });
}

Work NcclCommunicator::broadcast(const Array& array, int root) {
  expect_broadcast(array, root, size());
  Call call = call_of(Collective::broadcast, array);
  call.root = root;
  return launch(call, {&array}, [&](const std::string& text) {
    connection_.group(text, [&](ncclComm* comm) {
      check_nccl(ncclBroadcast(array.data(), array.data(), bytes_of(array), ncclUint8, root, comm,
                               static_cast<cudaStream_t>(stream_.get().native())),
                 "ncclBroadcast", comm);
    });
  });
}

void NcclCommunicator::barrier() {
  if (Graph::is_capturing()) {
    halfgrad::detail::fail<std::logic_error>(
        "barrier", "expected no capture, since the host waits; a graph replays collectives only");
  }
  const Array one = Array::full({1}, Scalar(0), kUInt8, device_);
  const Work work = all_reduce(one, ReduceOp::max);
  stream_.get().synchronize();
  work.wait();
}

Work NcclCommunicator::launch(const Call& call, std::initializer_list<const Array*> arrays,
                              const std::function<void(const std::string&)>& queue) {
  for (const Array* array : arrays) {
    if (array->device() == device_) continue;
    halfgrad::detail::fail(name(call.collective), "expected an array on {}, got one on {}", device_,
                           array->device());
  }
  connection_.failure()->throw_any();
  Call numbered = call;
  numbered.number = ++calls_;
  const std::string text = to_string(numbered);
  const Stream& stream = stream_.get();
  const DeviceGuard guard(device_);
  stream.wait_stream(current_stream(device_));
  auto end = std::make_shared<Event>();
  {
    const StreamScope scope(stream);
    if (call.count > 0) queue(text);
    end->record(stream);
  }
  for (const Array* array : arrays) array->record_stream(stream);
  if (!Graph::is_capturing()) connection_.watch(text, end);
  return Work(std::make_shared<NcclWork>(device_, std::move(end), connection_.failure()));
}

// Sends each rank its part of `input`. Returns all ranks' versions of this rank's part.
std::vector<Array> NcclCommunicator::exchange_parts(const std::string& call, const Array& input) {
  const std::int64_t n = input.numel() / size();
  const Array received = Array::empty({size() * n}, input.dtype(), device_);
  const auto stream = static_cast<cudaStream_t>(stream_.get().native());
  std::vector<Array> parts;
  connection_.group(call, [&](ncclComm* comm) {
    for (int peer = 0; peer < size(); ++peer) {
      const Array sent = part_of(input, peer, size());
      parts.push_back(peer == rank_ ? sent : part_of(received, peer, size()));
      if (peer == rank_) continue;
      check_nccl(ncclSend(sent.data(), bytes_of(sent), ncclUint8, peer, comm, stream), "ncclSend",
                 comm);
      check_nccl(ncclRecv(parts.back().data(), bytes_of(sent), ncclUint8, peer, comm, stream),
                 "ncclRecv", comm);
    }
  });
  return parts;
}

void NcclCommunicator::reduce_by_parts(const std::string& call, const Array& flat, ReduceOp op) {
  const Array own = part_of(flat, rank_, size());
  combine_ranks(op, exchange_parts(call, flat), own);
  gather(call, flat, own);
}

void NcclCommunicator::reduce_whole(const std::string& call, const Array& flat, ReduceOp op) {
  const Array all = Array::empty({size() * flat.numel()}, flat.dtype(), device_);
  gather(call, all, flat);
  std::vector<Array> operands;
  for (int rank = 0; rank < size(); ++rank) operands.push_back(part_of(all, rank, size()));
  combine_ranks(op, operands, flat);
}

void NcclCommunicator::gather(const std::string& call, const Array& output, const Array& input) {
  connection_.group(call, [&](ncclComm* comm) {
    check_nccl(ncclAllGather(input.data(), output.data(), bytes_of(input), ncclUint8, comm,
                             static_cast<cudaStream_t>(stream_.get().native())),
               "ncclAllGather", comm);
  });
}

}  // namespace halfgrad::dist
