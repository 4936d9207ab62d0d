#include <halfgrad/optim/late_updates.h>

#include <utility>

#include <halfgrad/core/cuda/runtime/runtime.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/graph.h>

namespace halfgrad {
namespace detail {
namespace {

// True in a capture that Graph does not know of: its end would not wait for late work.
bool is_captured_elsewhere(Device device) {
  return !Graph::is_capturing() &&
         runtime::is_capturing(device.index(), current_stream(device).native());
}

}  // namespace

void LateUpdates::begin(std::vector<Array> constant, std::vector<Array> others) {
  constant_ = std::move(constant);
  others_ = std::move(others);
}

// Splits the list so that a weight and the biases that follow it stay together.
void LateUpdates::run(const std::vector<Item>& items,
                      const std::function<void(std::ptrdiff_t begin, std::ptrdiff_t end)>& queue) {
  std::ptrdiff_t begin = 0;
  std::int64_t elements = 0;
  for (std::ptrdiff_t i = 0; i <= std::ssize(items); ++i) {
    const bool is_end = i == std::ssize(items);
    const Array* const parameter =
        is_end ? nullptr : items[static_cast<std::size_t>(i)].operands[0];
    if (i > begin && (is_end || (parameter->ndim() >= 2 && elements >= min_elements_))) {
      const auto part = std::span(items).subspan(static_cast<std::size_t>(begin),
                                                 static_cast<std::size_t>(i - begin));
      run_part(part, [&] { queue(begin, i); });
      begin = i;
      elements = 0;
    }
    if (!is_end) elements += parameter->numel();
  }
}

void LateUpdates::run_part(std::span<const Item> items, const std::function<void()>& queue) {
  const Device device = items[0].operands[0]->device();
  std::int64_t elements = 0;
  bool is_exposed = false;  // an address was handed out: user code may read it at any time
  std::vector<Storage*> used;
  const auto use = [&](const Array& array) {
    if (!array.defined() || array.device() != device) return;
    used.push_back(array.storage().get());
    is_exposed |= array.storage()->is_exposed();
  };
  for (const Item& item : items) {
    elements += item.operands[0]->numel();
    for (const Array* const operand : item.operands) use(*operand);
    for (const auto& [name, array] : *item.state) use(array);
  }
  for (const Array& array : others_) use(array);
  if (device.is_cpu() || is_exposed || elements < min_elements_ || is_captured_elsewhere(device)) {
    return queue();
  }
  run_late(stream_of(device), std::move(used), constant_, queue);
}

const Stream& LateUpdates::stream_of(Device device) {
  for (const auto& stream : streams_) {
    if (stream->get().device() == device) return stream->get();
  }
  return streams_.emplace_back(std::make_unique<OwnStream>(device, /*high_priority=*/true))->get();
}

}  // namespace detail

namespace optim {

void Optimizer::set_late_updates(bool enabled, std::int64_t min_elements) {
  if (min_elements < 1) {
    detail::fail("set_late_updates", "expected min_elements >= 1, got {}", min_elements);
  }
  late_ =
      enabled && is_elementwise() ? std::make_shared<detail::LateUpdates>(min_elements) : nullptr;
}

}  // namespace optim
}  // namespace halfgrad
