#include <halfgrad/dist/parallel/same_on_all_ranks.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include <halfgrad/core/fail.h>

namespace halfgrad::dist::detail {
namespace {

// The arrays of all ranks, one after another, on the CPU.
Array gather(Communicator& communicator, const Array& own, Device device) {
  const Array input = own.to(device);
  const Array all = Array::empty({communicator.size() * own.numel()}, own.dtype(), device);
  communicator.all_gather(all, input).wait();
  return all.to(Device());
}

std::vector<std::string> gather_texts(Communicator& communicator, const std::string& text,
                                      Device device) {
  const auto length = static_cast<std::int64_t>(text.size());
  const Array lengths = gather(communicator, Array::full({1}, length, DType::i64), device);
  const auto* const length_of = lengths.data_as<std::int64_t>();
  const std::int64_t longest = *std::max_element(length_of, length_of + communicator.size());
  const Array padded = Array::full({longest}, 0, DType::u8);
  std::copy(text.begin(), text.end(), padded.data_as<std::uint8_t>());
  const Array all = gather(communicator, padded, device);
  std::vector<std::string> texts;
  for (std::int64_t rank = 0; rank < communicator.size(); ++rank) {
    const auto* const first = all.data_as<char>() + rank * longest;
    texts.emplace_back(first, first + length_of[rank]);
  }
  return texts;
}

void refuse_difference(const Communicator& communicator, const char* op, const std::string& first,
                       const std::string& other, int rank) {
  std::istringstream of_first(first), of_other(other);
  std::string expected, got;
  do {
    if (!std::getline(of_first, expected)) expected = "nothing";
    if (!std::getline(of_other, got)) got = "nothing";
  } while (expected == got);
  halfgrad::detail::fail(op,
                         "expected the same parameters, buffers and options on all ranks, got {} "
                         "on {}, where {} has {}",
                         got, communicator.name_of(rank), communicator.name_of(0), expected);
}

std::int64_t bytes_of(const Array& array) {
  return array.numel() * static_cast<std::int64_t>(item_size(array.dtype()));
}

// The part of `flat` that holds the elements of `array` behind `offset` others.
Array part(const Array& flat, const Array& array, std::int64_t offset) {
  return flat.as_strided(array.sizes(), contiguous_strides(array.sizes()), offset);
}

// All are of one dtype and on one device.
void broadcast_together(Communicator& communicator, const std::vector<Array>& arrays) {
  std::int64_t total = 0;
  for (const Array& array : arrays) total += array.numel();
  const Array flat = Array::empty({total}, arrays[0].dtype(), arrays[0].device());
  const bool is_root = communicator.rank() == 0;
  std::int64_t offset = 0;
  for (const Array& array : arrays) {
    if (is_root) part(flat, array, offset).copy_(array);
    offset += array.numel();
  }
  communicator.broadcast(flat).wait();
  if (is_root) return;
  offset = 0;
  for (const Array& array : arrays) {
    array.copy_(part(flat, array, offset));
    array.storage()->bump_version();
    offset += array.numel();
  }
}

}  // namespace

void expect_same_lines(Communicator& communicator, const char* op,
                       const std::vector<std::string>& lines, Device device) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  const std::vector<std::string> texts = gather_texts(communicator, text, device);
  for (int rank = 1; rank < communicator.size(); ++rank) {
    const std::string& other = texts[static_cast<std::size_t>(rank)];
    if (other != texts[0]) refuse_difference(communicator, op, texts[0], other, rank);
  }
}

void broadcast_all(Communicator& communicator, std::span<const Array> arrays, std::int64_t bytes) {
  std::map<std::pair<std::string, DType>, std::vector<Array>> groups;
  for (const Array& array : arrays) {
    if (array.numel() == 0) continue;
    std::vector<Array>& group = groups[{array.device().str(), array.dtype()}];
    group.push_back(array);
    std::int64_t size = 0;
    for (const Array& member : group) size += bytes_of(member);
    if (size < bytes) continue;
    broadcast_together(communicator, group);
    group.clear();
  }
  for (const auto& [key, group] : groups) {
    if (!group.empty()) broadcast_together(communicator, group);
  }
}

}  // namespace halfgrad::dist::detail
