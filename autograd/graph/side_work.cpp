#include <halfgrad/autograd/graph/side_work.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/autograd/graph/tensor_impl.h>
#include <halfgrad/core/graph.h>

namespace halfgrad::detail {
namespace {

// More would keep the operands of more layers alive.
constexpr std::size_t kMostJobs = 2;

thread_local constinit SideWork* current_side_work = nullptr;

}  // namespace

SideWork::SideWork(bool enabled)
    : outer_(std::exchange(current_side_work, this)),
      enabled_(enabled && Graph::side_stream() != nullptr) {}

SideWork::~SideWork() { current_side_work = outer_; }

bool SideWork::is_enabled() { return current_side_work != nullptr && current_side_work->enabled_; }

void SideWork::run(const std::vector<Array>& operands,
                   const std::function<std::vector<Array>()>& queue) {
  const Stream* const side = is_enabled() ? Graph::side_stream() : nullptr;
  const Device device = operands.front().device();
  if (side == nullptr || side->device() != device) {
    queue();
    return;
  }
  const Stream main = current_stream(device);
  side->wait_stream(main);
  Job job{operands, {}, Event()};
  {
    const StreamScope scope(*side);
    for (const Array& result : queue()) job.results.push_back(result.storage());
  }
  job.done.record(*side);
  std::vector<Job>& jobs = current_side_work->jobs_;
  jobs.push_back(std::move(job));
  if (jobs.size() <= kMostJobs) return;
  jobs.front().done.wait(main);
  jobs.erase(jobs.begin());
}

void SideWork::join() {
  if (current_side_work == nullptr || current_side_work->jobs_.empty()) return;
  const Job& last = current_side_work->jobs_.back();  // the side stream runs in order
  last.done.wait(current_stream(last.operands.front().device()));
  current_side_work->jobs_.clear();
}

void SideWork::before(const Node& node, const Tensor& gradient,
                      const std::vector<Tensor>& more) const {
  if (jobs_.empty()) return;
  const bool reads = !is_cast(node) || !node.hooks.empty() || !node.retained.empty();
  const auto is_one = [this](const Tensor& each) { return is_pending(each); };
  if (reads && (is_one(gradient) || std::any_of(more.begin(), more.end(), is_one))) join();
}

bool SideWork::is_pending(const Tensor& gradient) const {
  if (jobs_.empty() || !gradient.defined()) return false;
  const std::shared_ptr<Storage>& storage = gradient.impl()->array.storage();
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const Job& job) {
    return std::find(job.results.begin(), job.results.end(), storage) != job.results.end();
  });
}

}  // namespace halfgrad::detail
