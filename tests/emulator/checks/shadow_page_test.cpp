#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <halfgrad/emulator/checks/shadow_page.h>

namespace halfgrad::emulator {
namespace {

struct FixedOrder : OperationOrder {
  explicit FixedOrder(bool all_ordered) : all_ordered(all_ordered) {}
  bool ordered(OperationId, OperationId) const override { return all_ordered; }
  const char* describe(OperationId) const override { return "a write"; }
  bool all_ordered;
};

constexpr std::size_t kCells = ShadowPage::kBytes / 4;

/// A thousand operations write one word each, so that more of them leave a trace in the page than
/// it has indices for.
void expect_that_no_slot_is_of_a_later_operation(const OperationOrder& order) {
  ShadowPage page;
  page.need_cells();
  for (std::uint64_t serial = 1; serial <= 1000; ++serial) {
    page.begin(serial, static_cast<OperationId>(serial), &order);
    for (std::size_t i = 0; i < kCells; ++i) {
      const Slot& slot = page.cells()[i].write;
      if (slot.clock == 0) continue;
      ASSERT_NE(page.standing(slot), Standing::current) << "operation " << serial << ", cell " << i;
      ASSERT_EQ(page.operations(slot).serial, slot.block) << "operation " << serial;
    }
    Slot& slot = page.cells()[serial % kCells].write;
    slot.clock = 1;
    slot.block = serial & 0xffffffu;
    slot.operation = page.current();
  }
}

TEST(ShadowPage, TakesNoEarlierOperationForTheRunningOne) {
  expect_that_no_slot_is_of_a_later_operation(FixedOrder(true));
}

TEST(ShadowPage, TakesNoUnorderedOperationForTheRunningOne) {
  expect_that_no_slot_is_of_a_later_operation(FixedOrder(false));
}

TEST(ShadowPage, RemembersAnUnorderedOperationAmongManyPastOnes) {
  struct OneUnordered : FixedOrder {
    OneUnordered() : FixedOrder(true) {}
    bool ordered(OperationId earlier, OperationId) const override { return earlier != 1; }
  };
  const OneUnordered order;
  ShadowPage page;
  page.need_cells();
  for (std::uint64_t serial = 1; serial <= 1000; ++serial) {
    page.begin(serial, static_cast<OperationId>(serial), &order);
    if (serial > 1) {
      ASSERT_EQ(page.standing(page.cells()[0].write), Standing::unordered) << serial;
    }
    Slot& slot = page.cells()[serial == 1 ? 0 : 1 + serial % 8].write;
    slot.clock = 1;
    slot.operation = page.current();
  }
}

}  // namespace
}  // namespace halfgrad::emulator
