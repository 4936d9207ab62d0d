#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include <halfgrad/emulator/checks/launch_checks.h>
#include <halfgrad/emulator/checks/shadow.h>

namespace halfgrad::emulator {
namespace {

/// An operation that accesses a whole range.
struct RangeOperation {
  FindingLog& findings;
  const OperationOrder& order;
  OperationId id;
  bool write;
  const Allocation* allocation;
  std::set<OperationId> reported;

  void meet(const ShadowPage& page, const Slot& slot, bool wrote, std::uint64_t address);
  void visit(ShadowPage& page, Cell& cell, std::uint64_t address);
};

void RangeOperation::meet(const ShadowPage& page, const Slot& slot, bool wrote,
                          std::uint64_t address) {
  if (!page.is_live(slot) || page.standing(slot) == Standing::current) return;
  for (const OperationId other : page.operations(slot).ids) {
    if (other == id || other == 0 || order.ordered(other, id)) continue;
    if (!reported.insert(other).second) continue;
    Finding finding;
    finding.kind = FindingKind::stream_race;
    finding.message = std::string(order.describe(id)) + (write ? " writes" : " reads") +
                      " memory that an unordered operation " + (wrote ? "writes" : "reads");
    finding.address = address;
    if (allocation != nullptr) {
      finding.allocation = "byte " + std::to_string(address - allocation->begin) + " of " +
                           std::to_string(allocation->bytes) + " bytes, made by " +
                           allocation->made_by;
    }
    finding.other = order.describe(other);
    findings.add(std::move(finding));
  }
}

void RangeOperation::visit(ShadowPage& page, Cell& cell, std::uint64_t address) {
  meet(page, cell.write, true, address);
  if (write) meet(page, cell.read, false, address);
  Slot mine;
  mine.clock = 1;
  mine.block = 0xffffffu;
  mine.operation = page.current();
  mine.instruction = 0xffffu;
  if (write) {
    cell = {mine, Slot()};
  } else {
    if (page.is_live(cell.read)) {
      mine.operation = page.with_current(static_cast<std::uint8_t>(cell.read.operation));
    }
    cell.read = mine;
  }
}

/// Records the bytes of a store as written. Adds a note if another access reads unwritten bytes.
void check_written(FindingLog& findings, const Allocation& allocation, const OperationOrder& order,
                   OperationId id, std::uint64_t address, std::size_t bytes, AccessKind kind) {
  if (allocation.written == nullptr) return;
  std::byte* const written = allocation.written + (address - allocation.begin);
  if (kind == AccessKind::store) {
    std::memset(written, 1, bytes);
    return;
  }
  const void* const missing = std::memchr(written, 0, bytes);
  if (missing == nullptr) return;
  const std::size_t offset =
      static_cast<std::size_t>(static_cast<const std::byte*>(missing) - written);
  Finding finding;
  finding.kind = FindingKind::uninitialised;
  finding.severity = Severity::note;
  finding.message = std::string(order.describe(id)) + " reads memory that nothing has written";
  finding.address = address + offset;
  finding.allocation = "byte " + std::to_string(address + offset - allocation.begin) + " of " +
                       std::to_string(allocation.bytes) + " bytes, made by " + allocation.made_by;
  findings.add(std::move(finding));
}

/// Visits the part of one page.
void visit_page(RangeOperation& operation, ShadowPage& page, std::uint64_t begin,
                std::uint64_t end) {
  const PageLock lock(page);
  page.begin(next_serial(), operation.id, &operation.order);
  const bool whole_page = end - begin == ShadowPage::kBytes;
  if (whole_page && page.cells() == nullptr) return operation.visit(page, page.whole, begin);
  const unsigned needed = static_cast<unsigned>(std::countr_zero(begin | end | 4u));
  page.refine(needed);
  page.need_cells();
  const unsigned log = page.cell_log();
  const std::uint64_t base = begin & ~std::uint64_t{ShadowPage::kBytes - 1};
  for (std::uint64_t at = begin; at < end; at += 1u << log) {
    operation.visit(page, page.cells()[(at - base) >> log], at);
  }
}

void visit_pages(RangeOperation& range, Allocations& memory, std::uint64_t address,
                 std::size_t bytes) {
  GlobalShadow& shadow = GlobalShadow::of(memory);
  const std::uint64_t end = address + bytes;
  while (address < end) {
    const std::uint64_t number = address >> ShadowPage::kBytesLog;
    const std::uint64_t page_end = std::min(end, (number + 1) << ShadowPage::kBytesLog);
    visit_page(range, shadow.page(number), address, page_end);
    address = page_end;
  }
}

}  // namespace

void check_range(FindingLog& findings, Allocations& memory, const OperationOrder& order,
                 OperationId operation, std::uint64_t address, std::size_t bytes, AccessKind kind) {
  if (bytes == 0) return;
  const Allocation* const allocation = memory.find(address, bytes);
  if (allocation != nullptr) {
    check_written(findings, *allocation, order, operation, address, bytes, kind);
  }
  RangeOperation range{findings, order, operation, kind != AccessKind::load, allocation, {}};
  visit_pages(range, memory, address, bytes);
}

void check_lifetime(FindingLog& findings, Allocations& memory, const OperationOrder& order,
                    OperationId operation, std::uint64_t address, std::size_t bytes) {
  RangeOperation range{findings, order, operation, true, memory.find(address, 1), {}};
  visit_pages(range, memory, address, bytes);
}

void forget_range(const Allocations& memory, std::uint64_t address, std::size_t bytes) {
  GlobalShadow::of(memory).forget(address, address + bytes);
}

}  // namespace halfgrad::emulator
