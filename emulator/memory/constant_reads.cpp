#include <halfgrad/emulator/memory/constant_reads.h>

#include <algorithm>

#include <halfgrad/emulator/ptx/module.h>

namespace halfgrad::emulator {

ConstantReads::ConstantReads(Module& module) {
  for (const auto& [name, variable] : module.variables()) {
    if (variable.constant) variables_.push_back({variable.address, variable.bytes, 0});
  }
  std::sort(variables_.begin(), variables_.end(),
            [](const Constant& a, const Constant& b) { return a.address < b.address; });
  std::size_t words = 0;
  for (Constant& constant : variables_) {
    constant.first_word = words;
    words += constant.word_count();
  }
  words_ = std::make_unique<std::atomic<std::uint32_t>[]>((words + 31) / 32);
}

void ConstantReads::add(LaneMask lanes, const LaneAddresses& addresses, unsigned bytes) {
  std::uint64_t last = ~std::uint64_t{0};
  each_lane(lanes, [&](unsigned lane) {  // mostly, all lanes load one word
    if (addresses[lane] != last) add(addresses[lane], bytes);
    last = addresses[lane];
  });
}

void ConstantReads::add(std::uint64_t address, unsigned bytes) {
  const auto after = std::upper_bound(
      variables_.begin(), variables_.end(), address,
      [](std::uint64_t wanted, const Constant& constant) { return wanted < constant.address; });
  if (after == variables_.begin()) return;
  const Constant& constant = *std::prev(after);
  const std::uint64_t offset = address - constant.address;
  if (offset >= constant.bytes || bytes > constant.bytes - offset) return;
  for (std::uint64_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
    const std::size_t i = constant.first_word + word;
    if (!is_read(i)) words_[i / 32] |= std::uint32_t{1} << i % 32;
  }
}

std::vector<ConstantReads::Range> ConstantReads::ranges() const {
  std::vector<Range> all;
  for (const Constant& constant : variables_) {
    const std::size_t count = constant.word_count();
    for (std::size_t word = 0; word < count; ++word) {
      if (!is_read(constant.first_word + word)) continue;
      const std::size_t begin = word;
      while (word < count && is_read(constant.first_word + word)) ++word;
      all.push_back({constant.address + 4 * begin, std::min(4 * word, constant.bytes) - 4 * begin});
    }
  }
  return all;
}

}  // namespace halfgrad::emulator
