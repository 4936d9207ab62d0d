#include <halfgrad/tests/emulator/streams/program.h>

#include <halfgrad/tests/emulator/streams/fake_runtime.h>

namespace halfgrad::emulator {

Program::Program(std::uint64_t seed) : random_(seed) {
  add_node({});  // before everything
  streams_ = {nullptr};
  is_blocking_ = {false};
  for (int i = 0; i < 4; ++i) {
    const bool blocks = i < 2;
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, blocks ? cudaStreamDefault : cudaStreamNonBlocking);
    streams_.push_back(stream);
    is_blocking_.push_back(blocks);
  }
  tails_.assign(streams_.size(), 0);
  for (int i = 0; i < 3; ++i) {
    cudaEvent_t event = nullptr;
    cudaEventCreate(&event);
    events_.push_back(event);
  }
  recorded_.assign(events_.size(), 0);
}

Program::~Program() {
  for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  for (std::size_t i = 1; i < streams_.size(); ++i) cudaStreamDestroy(streams_[i]);
}

Program::Node Program::add_node(std::vector<Node> before) {
  before_.push_back(std::move(before));
  return before_.size() - 1;
}

/// A node for what a stream does next: after its tail, the host, and the legacy stream's rules.
Program::Node Program::begin(std::size_t stream) {
  std::vector<Node> before = {tails_[stream], host_};
  for (std::size_t other = 0; other < streams_.size(); ++other) {
    if (stream == 0 ? is_blocking_[other] : is_blocking_[stream] && other == 0) {
      before.push_back(tails_[other]);
    }
  }
  return tails_[stream] = add_node(std::move(before));
}

void Program::step() {
  const std::size_t stream = random_() % streams_.size(), event = random_() % events_.size();
  switch (random_() % 12) {
    case 0:
      cudaEventRecord(events_[event], streams_[stream]);
      recorded_[event] = begin(stream);
      break;
    case 1:
    case 2:
      if (recorded_[event] == 0) break;
      cudaStreamWaitEvent(streams_[stream], events_[event], 0);
      before_[begin(stream)].push_back(recorded_[event]);
      break;
    case 3:
      if (random_() % 4 != 0) break;
      cudaStreamSynchronize(streams_[stream]);
      host_ = add_node({host_, begin(stream)});
      break;
    case 4:
      if (random_() % 4 != 0 || recorded_[event] == 0) break;
      cudaEventSynchronize(events_[event]);
      host_ = add_node({host_, recorded_[event]});
      break;
    default:
      names_.push_back("operation " + std::to_string(names_.size()));
      give(streams_[stream], names_.back());
      nodes_.push_back(begin(stream));
  }
}

void Program::finish() {
  wait_for_device(0);
  std::vector<Node> before = tails_;
  before.push_back(host_);
  host_ = add_node(std::move(before));
}

std::vector<bool> Program::reachable_from(Node node) const {
  std::vector<bool> seen(before_.size());
  std::vector<Node> open = {node};
  while (!open.empty()) {
    const Node next = open.back();
    open.pop_back();
    if (seen[next]) continue;
    seen[next] = true;
    open.insert(open.end(), before_[next].begin(), before_[next].end());
  }
  return seen;
}

bool Program::comes_before(std::size_t i, std::size_t j) const {
  std::vector<bool>& reachable = known_[nodes_[j]];
  if (reachable.empty()) reachable = reachable_from(nodes_[j]);
  return i != j && nodes_[i] < reachable.size() && reachable[nodes_[i]];
}

std::vector<std::size_t> Program::waited_for() const {
  const std::vector<bool> seen = reachable_from(host_);
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (seen[nodes_[i]]) result.push_back(i);
  }
  return result;
}

}  // namespace halfgrad::emulator
