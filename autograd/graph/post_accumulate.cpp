#include <halfgrad/autograd/graph/post_accumulate.h>

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {
namespace {

std::atomic<std::int64_t> hooks_alive = 0;

// Each hook holds one, so hooks that end with their leaf are counted, too.
struct Alive {
  Alive() { hooks_alive.fetch_add(1, std::memory_order_relaxed); }
  Alive(const Alive&) : Alive() {}
  Alive& operator=(const Alive&) = default;
  ~Alive() { hooks_alive.fetch_sub(1, std::memory_order_relaxed); }
};

thread_local constinit BackwardEnd* innermost_end = nullptr;

bool is_post_accumulate(const Hook& hook) { return hook.output == kAfterAccumulation; }

bool has_post_accumulate_hook(const TensorImpl& leaf) {
  return std::any_of(leaf.hooks.begin(), leaf.hooks.end(), is_post_accumulate);
}

}  // namespace

std::uint64_t next_hook_id() {
  static std::atomic<std::uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t add_post_accumulate_hook(TensorImpl& leaf, std::function<void(const Tensor&)> hook) {
  const std::uint64_t id = next_hook_id();
  leaf.hooks.push_back({kAfterAccumulation, id,
                        std::make_shared<const std::function<Tensor(const Tensor&)>>(
                            [hook = std::move(hook), alive = Alive()](const Tensor& tensor) {
                              hook(tensor);
                              return Tensor();
                            })});
  return id;
}

void run_post_accumulate_hooks(const std::shared_ptr<TensorImpl>& leaf) {
  if (!has_post_accumulate_hook(*leaf)) return;
  for (const Hook& hook : std::vector(leaf->hooks)) {  // a copy: hooks may remove themselves
    if (is_post_accumulate(hook)) (*hook.function)(Tensor(leaf));
  }
}

bool FinalLeaves::are_wanted() { return hooks_alive.load(std::memory_order_relaxed) != 0; }

void FinalLeaves::find(std::vector<Node*> nodes) {
  std::unordered_set<const Node*> seen;
  std::unordered_map<const TensorImpl*, std::size_t> positions;
  while (!nodes.empty()) {
    Node* const node = nodes.back();
    nodes.pop_back();
    if (!seen.insert(node).second) continue;
    for (const Edge& edge : node->edges()) {
      if (edge.node != nullptr) nodes.push_back(edge.node.get());
      if (edge.leaf == nullptr || !has_post_accumulate_hook(*edge.leaf)) continue;
      const auto [found, is_first] = positions.try_emplace(edge.leaf.get(), leaves_.size());
      if (is_first) leaves_.push_back({edge.leaf.get(), node->sequence()});
      std::uint64_t& last_sender = leaves_[found->second].last_sender;
      last_sender = std::min(last_sender, node->sequence());
    }
  }
  const auto is_earlier = [](const Leaf& a, const Leaf& b) {
    return a.last_sender > b.last_sender;
  };
  std::stable_sort(leaves_.begin(), leaves_.end(), is_earlier);
}

BackwardEnd::BackwardEnd() : outer_(std::exchange(innermost_end, this)) {}
BackwardEnd::~BackwardEnd() { innermost_end = outer_; }

void BackwardEnd::call() {
  while (!functions_.empty()) {  // a function may add others
    for (const auto& function : std::exchange(functions_, {})) function();
  }
}

void BackwardEnd::add(std::function<void()> function) {
  innermost_end->functions_.push_back(std::move(function));
}

bool BackwardEnd::is_nested() { return innermost_end->outer_ != nullptr; }

}  // namespace halfgrad::detail
