#include <halfgrad/emulator/checks/shadow_page.h>

#include <algorithm>
#include <utility>

namespace halfgrad::emulator {
namespace {

/// Operations that a page keeps when it drops the unused ones. Twice as many have an index in 8
/// bits, and those of the running operation fit, too.
constexpr std::size_t kMostKept = 100;

}  // namespace

void ShadowPage::need_cells() {
  if (cells_ != nullptr) return;
  const std::size_t count = kBytes >> cell_log_;
  cells_ = std::make_unique<Cell[]>(count);
  std::fill_n(cells_.get(), count, whole);
}

void ShadowPage::forget() {
  cells_.reset();
  whole = Cell();
  serial_ = 0;
  operations_.clear();
  contended_.clear();
  free_contended_.clear();
}

void ShadowPage::forget(unsigned begin, unsigned end) {
  need_cells();
  for (unsigned i = begin >> cell_log_; i < (end + (1u << cell_log_) - 1) >> cell_log_; ++i) {
    if (cells_[i].write.listed && is_live(cells_[i].write)) drop_contended(cells_[i].write);
    cells_[i] = Cell();
  }
}

void ShadowPage::refine(unsigned log) {
  if (log >= cell_log_) return;
  if (cells_ != nullptr) {
    const std::size_t count = kBytes >> log;
    const unsigned shift = cell_log_ - log;
    auto finer = std::make_unique<Cell[]>(count);
    for (std::size_t i = 0; i < count; ++i) {
      finer[i] = cells_[i >> shift];
      Slot& write = finer[i].write;
      if (write.listed && is_live(write) && (i & ((1u << shift) - 1)) != 0) {
        contended_.push_back(std::make_unique<ContendedWord>(contended(write)));
        write.clock = static_cast<Clock>(contended_.size() - 1);
      }
    }
    cells_ = std::move(finer);
  }
  cell_log_ = log;
}

void ShadowPage::begin(std::uint64_t serial, OperationId id, const OperationOrder* order) {
  if (operations_.size() > most_operations_) forget_past(order);
  bool all_past = true;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const auto& ids = operations_[i].ids;
    const bool past =
        order == nullptr || std::all_of(ids.begin(), ids.end(), [&](OperationId other) {
          return other == 0 || other == id || order->ordered(other, id);
        });
    standing_[i] = past ? Standing::past : Standing::unordered;
    all_past &= past;
  }
  if (all_past) {
    contended_.clear();
    free_contended_.clear();
  }
  serial_ = serial;
  current_ = index_of(serial, {id});
  standing_[current_] = Standing::current;
}

void ShadowPage::forget_past(const OperationOrder* order) {
  // Without an order, or with too many unordered operations, all history of the page is dropped.
  std::vector<bool> used(256, false);
  const std::size_t count = cells_ == nullptr ? 0 : kBytes >> cell_log_;
  for (std::size_t i = 0; i < count && order != nullptr; ++i) {
    if (cells_[i].write.clock != 0) used[cells_[i].write.operation] = true;
    if (cells_[i].read.clock != 0) used[cells_[i].read.operation] = true;
  }
  used[whole.write.operation] = used[whole.read.operation] = order != nullptr;
  const auto kept = static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
  if (kept > kMostKept || order == nullptr) {
    std::fill_n(cells_.get(), count, Cell());
    whole = Cell();
    operations_.clear();
    return;
  }
  most_operations_ = std::max(kFewOperations, 2 * kept);
  std::array<std::uint8_t, 256> renumbered{};
  std::vector<PageOperations> operations;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (!used[i]) continue;
    renumbered[i] = static_cast<std::uint8_t>(operations.size());
    operations.push_back(std::move(operations_[i]));
  }
  const auto renumber = [&](Cell& cell) {
    cell.write.operation = renumbered[cell.write.operation];
    cell.read.operation = renumbered[cell.read.operation];
  };
  for (std::size_t i = 0; i < count; ++i) renumber(cells_[i]);
  renumber(whole);
  operations_ = std::move(operations);
}

std::uint8_t ShadowPage::index_of(std::uint64_t serial, std::vector<OperationId> ids) {
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (operations_[i].serial == serial && operations_[i].ids == ids) {
      return static_cast<std::uint8_t>(i);
    }
  }
  if (operations_.size() == 256) return current_;
  operations_.push_back({serial, std::move(ids)});
  return static_cast<std::uint8_t>(operations_.size() - 1);
}

std::uint8_t ShadowPage::with_current(std::uint8_t index) {
  std::vector<OperationId> ids = operations_[index].ids;
  ids.push_back(operations_[current_].ids.front());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  const std::uint8_t found = index_of(serial_, std::move(ids));
  if (found != current_) standing_[found] = Standing::mixed;
  return found;
}

std::uint32_t ShadowPage::add_contended() {
  if (free_contended_.empty()) {
    contended_.push_back(std::make_unique<ContendedWord>());
    if (contended_.size() > 1) return static_cast<std::uint32_t>(contended_.size() - 1);
    contended_.push_back(std::make_unique<ContendedWord>());  // number 0 means "no access"
    return 1;
  }
  const std::uint32_t number = free_contended_.back();
  free_contended_.pop_back();
  *contended_[number] = ContendedWord();
  return number;
}

void ShadowPage::drop_contended(const Slot& slot) { free_contended_.push_back(slot.clock); }

}  // namespace halfgrad::emulator
