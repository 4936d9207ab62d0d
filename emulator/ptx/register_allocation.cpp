#include <halfgrad/emulator/ptx/register_allocation.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>

#include <halfgrad/emulator/ptx/declaration.h>
#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kCacheLine = 64;
/// More words of liveness sets than this would take seconds; registers then share no place.
constexpr std::size_t kMostLivenessWords = std::size_t{1} << 25;

/// A set of slots.
using Slots = std::span<std::uint64_t>;

bool contains(Slots set, Offset slot) { return (set[slot / 64] >> (slot % 64) & 1) != 0; }
void insert(Slots set, Offset slot) { set[slot / 64] |= 1ull << (slot % 64); }

/// Instructions [begin, end) that only run from the first to the last.
struct BasicBlock {
  std::size_t begin = 0, end = 0;
  std::vector<std::uint32_t> next;  ///< blocks
};

/// Instructions at which a slot is alive, both included; empty if first > last.
struct Interval {
  std::uint32_t first = ~0u, last = 0;

  void include(std::size_t instruction) {
    first = std::min(first, static_cast<std::uint32_t>(instruction));
    last = std::max(last, static_cast<std::uint32_t>(instruction));
  }
};

class Liveness {
 public:
  explicit Liveness(const FunctionBuilder& builder)
      : builder_(builder),
        code_(builder.function.code),
        words_((builder.slots.size() + 63) / 64),
        intervals_(builder.slots.size()) {}

  std::vector<Interval> intervals() {
    find_blocks();
    if (blocks_.size() * words_ > kMostLivenessWords) {
      return std::vector<Interval>(builder_.slots.size(),
                                   {0, static_cast<std::uint32_t>(code_.size())});
    }
    for (auto* sets : {&read_first_, &written_, &alive_in_, &alive_out_}) {
      sets->assign(blocks_.size() * words_, 0);
    }
    for (std::size_t block = 0; block < blocks_.size(); ++block) summarise(block);
    while (propagate()) {
    }
    for (std::size_t block = 0; block < blocks_.size(); ++block) extend_intervals(block);
    return std::move(intervals_);
  }

 private:
  Slots set(std::vector<std::uint64_t>& sets, std::size_t block) const {
    return {sets.data() + block * words_, words_};
  }

  std::span<const Offset> used(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : builder_.accesses[i - 1].used_end;
    return std::span(builder_.used).subspan(begin, builder_.accesses[i].used_end - begin);
  }
  std::span<const Offset> defined(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : builder_.accesses[i - 1].defined_end;
    return std::span(builder_.defined).subspan(begin, builder_.accesses[i].defined_end - begin);
  }

  static bool ends_block(const Instruction& instruction) {
    switch (instruction.control) {
      case Control::branch:
      case Control::branch_indexed:
      case Control::ret:
      case Control::exit:
        return true;
      default:
        return false;
    }
  }

  std::span<const std::uint32_t> targets(const Instruction& instruction) const {
    if (instruction.control == Control::branch) return {&instruction.target, 1};
    if (instruction.control != Control::branch_indexed) return {};
    return builder_.function.branch_tables[instruction.target];
  }

  void find_blocks() {
    std::vector<bool> leads(code_.size() + 1, false);
    leads[0] = true;
    for (std::size_t i = 0; i < code_.size(); ++i) {
      for (const std::uint32_t target : targets(code_[i])) leads[target] = true;
      if (ends_block(code_[i])) leads[i + 1] = true;
    }
    std::vector<std::uint32_t> block_of(code_.size());
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (leads[i]) blocks_.push_back({i, i, {}});
      blocks_.back().end = i + 1;
      block_of[i] = static_cast<std::uint32_t>(blocks_.size() - 1);
    }
    for (BasicBlock& block : blocks_) {
      const Instruction& last = code_[block.end - 1];
      for (const std::uint32_t target : targets(last)) block.next.push_back(block_of[target]);
      const bool goes_on = !ends_block(last) || last.guard != kNoOffset;
      if (goes_on && block.end < code_.size()) block.next.push_back(block_of[block.end]);
    }
  }

  /// Finds the slots that the block reads before it writes them, and those that it writes in all
  /// active lanes.
  void summarise(std::size_t block) {
    const Slots read = set(read_first_, block), written = set(written_, block);
    for (std::size_t i = blocks_[block].begin; i < blocks_[block].end; ++i) {
      for (const Offset slot : used(i)) {
        if (!contains(written, slot)) insert(read, slot);
      }
      if (code_[i].guard != kNoOffset) continue;
      for (const Offset slot : defined(i)) insert(written, slot);
    }
  }

  /// alive_out = union of the successors' alive_in; alive_in = read_first + (alive_out - written).
  bool propagate() {
    bool changed = false;
    for (std::size_t block = blocks_.size(); block-- > 0;) {
      const Slots out = set(alive_out_, block), in = set(alive_in_, block);
      const Slots read = set(read_first_, block), written = set(written_, block);
      for (const std::uint32_t next : blocks_[block].next) {
        const Slots from = set(alive_in_, next);
        for (std::size_t w = 0; w < words_; ++w) out[w] |= from[w];
      }
      for (std::size_t w = 0; w < words_; ++w) {
        const std::uint64_t alive = read[w] | (out[w] & ~written[w]);
        changed |= alive != in[w];
        in[w] = alive;
      }
    }
    return changed;
  }

  void include_all(Slots alive, std::size_t instruction) {
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t bits = alive[w]; bits != 0; bits &= bits - 1) {
        intervals_[w * 64 + static_cast<std::size_t>(std::countr_zero(bits))].include(instruction);
      }
    }
  }

  void extend_intervals(std::size_t block) {
    include_all(set(alive_in_, block), blocks_[block].begin);
    include_all(set(alive_out_, block), blocks_[block].end - 1);
    for (std::size_t i = blocks_[block].begin; i < blocks_[block].end; ++i) {
      for (const Offset slot : used(i)) intervals_[slot].include(i);
      for (const Offset slot : defined(i)) intervals_[slot].include(i);
    }
  }

  const FunctionBuilder& builder_;
  const std::vector<Instruction>& code_;
  std::size_t words_;
  std::vector<Interval> intervals_;
  std::vector<BasicBlock> blocks_;
  std::vector<std::uint64_t> read_first_, written_, alive_in_, alive_out_;
};

/// Hands out places in the register file, and takes them back.
class Places {
 public:
  Offset take(unsigned bytes) {
    auto& unused = free_[std::bit_width(bytes)];
    if (unused.empty() && bytes == 0) {  // predicates of 4 bytes share a cache line
      for (std::size_t i = kCacheLine; i > 0; i -= 4) unused.push_back(end_ + Offset(i) - 4);
      end_ += kCacheLine;
    } else if (unused.empty()) {
      unused.push_back(end_);
      end_ += bytes * kWarpSize;
    }
    const Offset place = unused.back();
    unused.pop_back();
    return place;
  }
  void give_back(unsigned bytes, Offset place) { free_[std::bit_width(bytes)].push_back(place); }
  std::size_t bytes() const { return align_up(end_, kCacheLine); }

 private:
  std::array<std::vector<Offset>, 6> free_;  ///< by the register's size
  Offset end_ = 0;
};

std::vector<Offset> find_places(const FunctionBuilder& builder,
                                const std::vector<Interval>& intervals, std::size_t& bytes) {
  std::vector<Offset> order, places(builder.slots.size(), 0);
  for (Offset slot = 0; slot < builder.slots.size(); ++slot) {
    if (!builder.slots[slot].fixed && intervals[slot].first <= intervals[slot].last) {
      order.push_back(slot);
    }
  }
  std::sort(order.begin(), order.end(), [&](Offset a, Offset b) {
    return std::pair(intervals[a].first, a) < std::pair(intervals[b].first, b);
  });
  using Ending = std::pair<std::uint32_t, Offset>;  // last instruction, slot
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> alive;
  Places free;
  for (const Offset slot : order) {
    while (!alive.empty() && alive.top().first < intervals[slot].first) {
      const Offset old = alive.top().second;
      free.give_back(builder.slots[old].bytes, places[old]);
      alive.pop();
    }
    places[slot] = free.take(builder.slots[slot].bytes);
    alive.emplace(intervals[slot].last, slot);
  }
  // Constants and special registers follow, in places of their own; predicates among them, too, may
  // be filled like arrays.
  std::size_t end = free.bytes();
  for (Offset slot = 0; slot < builder.slots.size(); ++slot) {
    if (!builder.slots[slot].fixed) continue;
    places[slot] = static_cast<Offset>(end);
    end += std::max(4u, unsigned{builder.slots[slot].bytes}) * kWarpSize;
  }
  bytes = end;
  return places;
}

}  // namespace

void place_registers(FunctionBuilder& builder) {
  Function& function = builder.function;
  const auto places = find_places(builder, Liveness(builder).intervals(), function.register_bytes);
  for (Instruction& instruction : function.code) {
    const unsigned count = instruction.destinations + instruction.sources;
    for (unsigned i = 0; i < count; ++i) {
      instruction.operands[i] = places[instruction.operands[i]];
    }
    if (instruction.guard != kNoOffset) instruction.guard = places[instruction.guard];
  }
  for (auto& list : function.lists) {
    for (Offset& offset : list) offset = places[offset];
  }
  for (Call& call : function.calls) {
    if (call.address != kNoOffset) call.address = places[call.address];
  }
  for (auto& constant : function.constants) constant.offset = places[constant.offset];
  for (auto& special : function.specials) special.offset = places[special.offset];
}

}  // namespace halfgrad::emulator
