#include <halfgrad/emulator/simt/mbarrier_wait.h>

#include <cstring>

#include <halfgrad/emulator/ptx/instructions/mbarrier_word.h>

namespace halfgrad::emulator {

std::string text_of(const MbarrierWait& wait, const Block& own) {
  std::uint64_t bits;
  std::memcpy(&bits, wait.owner->shared.data() + wait.offset, sizeof bits);
  const MbarrierWord word = MbarrierWord::from_bits(bits);
  std::int64_t arrivals = word.pending, bytes = word.transactions, on_the_way = 0;
  for (const BarrierCopy& copy : wait.owner->barrier_copies) {
    if (copy.barrier != wait.offset) continue;
    arrivals -= copy.arrivals;
    bytes -= copy.bytes;
    on_the_way += copy.bytes;
  }
  std::string text = "the phase of parity " + std::to_string(int{wait.phase}) +
                     " of the mbarrier at byte " + std::to_string(wait.offset) +
                     " of shared memory";
  if (wait.owner != &own)
    text += " of block " + std::to_string(wait.owner->rank) + " of the cluster";
  text += ", which lacks " + std::to_string(arrivals) + " of " + std::to_string(word.expected) +
          " arrivals";
  if (bytes > 0) {
    text += " and " + std::to_string(bytes) + " of " + std::to_string(bytes + on_the_way) +
            " expected bytes";
  } else if (bytes < 0) {
    text += ", and gets " + std::to_string(-bytes) + " bytes more than the " +
            std::to_string(bytes + on_the_way) + " that it expects";
  }
  return text;
}

}  // namespace halfgrad::emulator
