#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <halfgrad/emulator/checks/knowledge.h>
#include <halfgrad/emulator/checks/operation_order.h>

namespace halfgrad::emulator {

/// The last write of a word, or its last read. 12 bytes.
struct Slot {
  Clock clock = 0;  ///< 0: none. The number of a reader list or of a contended word if `listed`
  std::uint32_t block : 24 = 0;
  std::uint32_t operation : 8 = 0;  ///< index in ShadowPage::operations
  std::uint32_t thread : 10 = 0;
  std::uint32_t instruction : 16 = 0;  ///< index of its counters; 0xffff: unknown
  std::uint32_t strong : 1 = 0;
  std::uint32_t device : 1 = 0;        ///< scope is the device or wider
  std::uint32_t asynchronous : 1 = 0;  ///< a cp.async that was not waited for
  std::uint32_t listed : 1 = 0;
  std::uint32_t copied : 1 = 0;  ///< written by a cp.async that was waited for

  /// The number of a block in 24 bits.
  static std::uint32_t stored(std::uint32_t block) { return block & 0xffffffu; }

  /// A slot from whole words. Writing field by field costs a stalled load for each.
  static Slot of(Clock clock, std::uint32_t block, std::uint32_t operation, std::uint32_t thread,
                 std::uint32_t instruction, bool strong, bool device) {
    const std::uint32_t words[3] = {clock, stored(block) | operation << 24,
                                    (thread & 0x3ffu) | std::min(instruction, 0xffffu) << 10 |
                                        std::uint32_t{strong} << 26 | std::uint32_t{device} << 27};
    Slot slot;
    static_assert(sizeof slot == sizeof words);
    std::memcpy(&slot, words, sizeof slot);
    return slot;
  }
};
/// The newest write and the newest read of one word.
struct Cell {
  Slot write, read;
};
static_assert(sizeof(Cell) == 24);

/// Several strong accesses of one warp, in a contended word.
struct ContendedAccess {
  std::uint32_t block = 0, warp = 0, instruction = 0;
  LaneMask lanes = 0;
  Clock clock = 0;
  bool write = false, strong = false, device = false;
};

/// A word that threads synchronise on, or write with unordered strong accesses: all accesses since
/// the last weak write, and what was released through it.
struct ContendedWord {
  std::vector<ContendedAccess> accesses;
  bool all_strong_and_device = true;
  /// The thread whose atomic was the last strong write, if it was of device scope. All strong
  /// writes before it precede what the thread does to this word next (PTX ISA, "Coherence").
  bool has_last = false;
  std::uint32_t last_block = 0, last_thread = 0;
  Released released;   ///< for an mbarrier: by arrivals of the phase that is not complete yet
  Released completed;  ///< for an mbarrier: by arrivals of earlier phases
};

/// A launch, copy or other operation that accessed a page. `serial` is unique in the process.
struct PageOperations {
  std::uint64_t serial = 0;
  std::vector<OperationId> ids;
};

/// How an operation that accessed a page relates to the one that runs.
enum class Standing : std::uint8_t {
  past,       ///< complete before the running one began
  current,    ///< the running one
  unordered,  ///< nothing orders them
  mixed,      ///< the running one and unordered ones
};

/// Shadow memory of 4096 bytes: a cell for each word of 4, 2 or 1 bytes, by the smallest access.
class ShadowPage {
 public:
  static constexpr unsigned kBytesLog = 12, kBytes = 1u << kBytesLog;

  /// Makes `serial` the running operation. Indices of past ones are used again.
  void begin(std::uint64_t serial, OperationId id, const OperationOrder* order);
  bool is_current(std::uint64_t serial) const { return serial_ == serial; }
  /// Splits cells so that each holds at most 1 << log bytes.
  void refine(unsigned log);
  void need_cells();
  /// Drops all history.
  void forget();
  /// Drops the history of bytes [begin, end) of the page.
  void forget(unsigned begin, unsigned end);
  /// Index of the running operation together with those at `index`.
  std::uint8_t with_current(std::uint8_t index);

  Cell* cells() { return cells_.get(); }
  unsigned cell_log() const { return cell_log_; }
  std::uint8_t current() const { return current_; }
  Standing standing(const Slot& slot) const { return standing_[slot.operation]; }
  bool is_live(const Slot& slot) const {
    return slot.clock != 0 && standing_[slot.operation] != Standing::past;
  }
  const PageOperations& operations(const Slot& slot) const { return operations_[slot.operation]; }
  ContendedWord& contended(const Slot& slot) { return *contended_[slot.clock]; }
  std::uint32_t add_contended();
  void drop_contended(const Slot& slot);

  /// One access by the whole operation, of all cells: what copies and memsets leave.
  Cell whole;
  std::atomic_flag locked = ATOMIC_FLAG_INIT;

 private:
  static constexpr std::size_t kFewOperations = 24;

  std::uint8_t index_of(std::uint64_t serial, std::vector<OperationId> ids);
  void forget_past(const OperationOrder* order);

  unsigned cell_log_ = 2;
  std::uint8_t current_ = 0;
  std::uint64_t serial_ = 0;
  std::unique_ptr<Cell[]> cells_;
  std::size_t most_operations_ = kFewOperations;  ///< before the unused ones are dropped
  std::vector<PageOperations> operations_;
  std::array<Standing, 256> standing_{};
  std::vector<std::unique_ptr<ContendedWord>> contended_;
  std::vector<std::uint32_t> free_contended_;
};

/// Holds a page's spin lock.
class PageLock {
 public:
  explicit PageLock(ShadowPage& page) : page_(page) {
    while (page_.locked.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~PageLock() { page_.locked.clear(std::memory_order_release); }
  PageLock(const PageLock&) = delete;
  PageLock& operator=(const PageLock&) = delete;

 private:
  ShadowPage& page_;
};

}  // namespace halfgrad::emulator
