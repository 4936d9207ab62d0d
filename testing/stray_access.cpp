#include <halfgrad/testing/stray_access.h>

#include <algorithm>
#include <sstream>

#include <halfgrad/core/dtype.h>

namespace halfgrad::testing::detail {
namespace {

bool contains(const CallArray& array, std::uint64_t address) {
  return address >= array.data && address < array.data + array.bytes;
}

/// Distance in bytes of an address from an array, 0 at both of its ends.
std::uint64_t distance(const CallArray& array, std::uint64_t address) {
  if (contains(array, address)) return 0;
  return address < array.data ? array.data - address : address - (array.data + array.bytes);
}

std::string shape_of(const CallArray& array) {
  return to_string(Shape(array.sizes.data(), static_cast<std::size_t>(array.ndim)));
}

/// The element at an address, counted from the first one of the array.
std::string element_at(const CallArray& array, std::uint64_t address) {
  const auto item = static_cast<std::int64_t>(item_size(static_cast<DType>(array.dtype)));
  const auto bytes = static_cast<std::int64_t>(address) - static_cast<std::int64_t>(array.data);
  // Rounds down: the byte before the first element belongs to element -1.
  return "element " + std::to_string(bytes / item - (bytes % item < 0 ? 1 : 0)) + " of ";
}

}  // namespace

void CallHistory::begin(const KernelCall& call) {
  constexpr std::size_t kKept = 2048;  // some seconds of calls
  last_ = call;
  for (std::size_t i = call.first_output(); i < call.count; ++i) {
    if (call.arrays[i].bytes == 0) continue;
    const bool again = std::any_of(outputs_.rbegin(), outputs_.rend(), [&](const Output& output) {
      return output.array == call.arrays[i];
    });
    if (!again) outputs_.push_back({call.arrays[i], i});
  }
  while (outputs_.size() > kKept) outputs_.pop_front();
}

std::optional<CallHistory::Output> CallHistory::output_at(std::uint64_t address) const {
  for (std::size_t i = last_.first_output(); i < last_.count; ++i) {
    if (contains(last_.arrays[i], address)) return Output{last_.arrays[i], i};
  }
  const auto own = [&](const CallArray& array) {
    return address >= array.storage && address < array.storage + array.storage_bytes;
  };
  const auto end = last_.arrays.begin() + last_.count;
  if (std::any_of(last_.arrays.begin(), end, own)) return std::nullopt;
  const auto found = std::find_if(outputs_.rbegin(), outputs_.rend(), [&](const Output& output) {
    return contains(output.array, address);
  });
  return found == outputs_.rend() ? std::nullopt : std::optional(*found);
}

StrayAccess CallHistory::beside_array(std::uint64_t address, bool wrote) const {
  std::size_t nearest = last_.count - 1;
  for (std::size_t i = 0; i < last_.count; ++i) {
    if (distance(last_.arrays[i], address) < distance(last_.arrays[nearest], address)) nearest = i;
  }
  const CallArray& array = last_.arrays[nearest];
  const bool inside = contains(array, address);
  const Fault fault = inside && wrote ? Fault::input_changed : Fault::out_of_bounds;
  constexpr std::uint64_t kFar = 1 << 16;
  return {fault, nearest, (wrote ? "wrote at " : "read at ") + element_at(array, address),
          (inside ? ", which can only be read: its shape is " : ", which has shape ") +
              shape_of(array) +
              (distance(array, address) > kFar ? "; an earlier call may still be at work" : "")};
}

StrayAccess CallHistory::described(std::uint64_t address, bool wrote) const {
  if (const auto output = wrote ? output_at(address) : std::nullopt) {
    return {Fault::changed_later, output->number, element_at(output->array, address),
            " was written after the kernel had returned; the shape is " + shape_of(output->array)};
  }
  return beside_array(address, wrote);
}

}  // namespace halfgrad::testing::detail
