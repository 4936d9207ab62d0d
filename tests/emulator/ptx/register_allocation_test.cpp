#include <halfgrad/emulator/ptx/register_allocation.h>

#include <gtest/gtest.h>

namespace halfgrad::emulator {
namespace {

struct WithoutSymbols : SymbolTable {
  SymbolAddress address_of(std::string_view) override { return {}; }
};

/// Builds a function of instructions `destination = f(sources)`.
class RegisterAllocationTest : public ::testing::Test {
 protected:
  void compute(std::vector<Offset> destinations, std::vector<Offset> sources,
               Offset guard = kNoOffset) {
    Instruction instruction;
    instruction.guard = guard;
    for (const Offset slot : destinations) {
      instruction.operands[instruction.destinations++] = slot;
      builder_.define(slot);
    }
    for (const Offset slot : sources) {
      instruction.operands[instruction.destinations + instruction.sources++] = slot;
      builder_.use(slot);
    }
    builder_.add(instruction, {});
  }
  void control(Control control, std::uint32_t target = 0, Offset guard = kNoOffset) {
    Instruction instruction;
    instruction.control = control;
    instruction.target = target;
    instruction.guard = guard;
    builder_.add(instruction, {});
  }
  Offset place(unsigned instruction, unsigned operand) const {
    return function_.code[instruction].operands[operand];
  }

  WithoutSymbols symbols_;
  Function function_;
  FunctionBuilder builder_{function_, symbols_};
};

TEST_F(RegisterAllocationTest, ValuesInSuccessionShareAPlace) {
  const Offset first = builder_.add_registers(4, 100);
  compute({first}, {});
  for (Offset i = 1; i < 100; ++i) compute({first + i}, {first + i - 1});
  control(Control::exit);
  place_registers(builder_);
  EXPECT_EQ(function_.register_bytes, 2u * 4 * 32);
  EXPECT_NE(place(5, 0), place(5, 1)) << "a destination does not share a source's place";
  EXPECT_EQ(place(5, 0), place(6, 1));
}

TEST_F(RegisterAllocationTest, SizesDoNotShare) {
  const Offset half = builder_.add_registers(2, 1), word = builder_.add_registers(4, 1);
  const Offset wide = builder_.add_registers(8, 1), predicate = builder_.add_registers(0, 1);
  for (const Offset slot : {half, word, wide, predicate}) compute({slot}, {});
  control(Control::exit);
  place_registers(builder_);
  EXPECT_EQ(function_.register_bytes, 64u + 128 + 256 + 64);
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(place(i, 0) % 64, 0u);
}

TEST_F(RegisterAllocationTest, AValueThatALoopReadsKeepsItsPlace) {
  const Offset outside = builder_.add_registers(4, 1), inside = builder_.add_registers(4, 1);
  const Offset again = builder_.add_registers(0, 1);
  compute({outside, again}, {});
  compute({}, {outside});
  compute({inside}, {});  // would overwrite `outside` in the second round
  compute({}, {inside});
  control(Control::branch, 1, again);
  control(Control::exit);
  place_registers(builder_);
  EXPECT_NE(place(1, 0), place(2, 0));
}

TEST_F(RegisterAllocationTest, AGuardedWriteKeepsTheOldValue) {
  const Offset value = builder_.add_registers(4, 1), other = builder_.add_registers(4, 1);
  const Offset guard = builder_.add_registers(0, 1);
  compute({value, guard}, {});
  compute({other}, {});
  compute({}, {other});
  compute({value}, {}, guard);
  compute({}, {value});
  control(Control::exit);
  place_registers(builder_);
  EXPECT_EQ(place(0, 0), place(4, 0));
  EXPECT_NE(place(0, 0), place(1, 0));
}

TEST_F(RegisterAllocationTest, BothArmsOfABranchMayShare) {
  const Offset left = builder_.add_registers(4, 1), right = builder_.add_registers(4, 1);
  const Offset guard = builder_.add_registers(0, 1);
  compute({guard}, {});
  control(Control::branch, 5, guard);
  compute({left}, {});
  compute({}, {left});
  control(Control::exit);
  compute({right}, {});
  compute({}, {right});
  control(Control::exit);
  place_registers(builder_);
  EXPECT_EQ(place(2, 0), place(5, 0));
}

TEST_F(RegisterAllocationTest, ConstantsAndSpecialRegistersKeepTheirPlaces) {
  const Offset value = builder_.add_registers(4, 1);
  const Offset five = builder_.constant(Type::u32, 5), yes = builder_.constant(Type::pred, 1);
  const Offset tid = builder_.special(Special::tid_x, 4);
  compute({value}, {five, tid, yes});
  control(Control::exit);
  place_registers(builder_);
  EXPECT_EQ(function_.constants[0].offset, place(0, 1));
  EXPECT_EQ(function_.specials[0].offset, place(0, 2));
  EXPECT_EQ(function_.constants[1].offset, place(0, 3));
  EXPECT_EQ(function_.register_bytes, 4u * 128);
}

TEST_F(RegisterAllocationTest, ListsAndAddressesOfCallsAreCorrected) {
  const Offset first = builder_.add_registers(4, 8), address = builder_.add_registers(8, 1);
  std::vector<Offset> slots;
  for (Offset i = 0; i < 8; ++i) slots.push_back(first + i);
  for (const Offset slot : slots) builder_.define(slot);
  Instruction load;
  load.list = builder_.keep(slots);
  builder_.add(load, {});
  compute({address}, {});
  compute({}, {slots[7], address});
  function_.calls.push_back({});
  function_.calls[0].address = address;
  place_registers(builder_);
  EXPECT_EQ(function_.code[0].list[7], place(2, 0));
  EXPECT_EQ(function_.calls[0].address, place(2, 1));
}

}  // namespace
}  // namespace halfgrad::emulator
