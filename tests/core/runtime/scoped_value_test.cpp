#include <halfgrad/core/scoped_value.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace halfgrad::detail {
namespace {

using Guard = GuardedValue<int>;

thread_local int number = 0;
thread_local int other = 0;

std::unique_ptr<Guard> guard(int value) { return std::make_unique<Guard>("Guard", number, value); }

template <class F>
std::string said(const F& f) {
  ::testing::internal::CaptureStderr();
  f();
  return ::testing::internal::GetCapturedStderr();
}

const char* const kWarning =
    "halfgrad: warning: Guard: expected its end on the thread that it began on, got another "
    "thread; it stays in force there until the next guard begins or ends\n";

TEST(GuardedValue, EndsInAnyOrder) {
  for (const std::array<int, 3>& order :
       {std::array{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    std::array<std::unique_ptr<Guard>, 3> guards{guard(1), guard(2), guard(3)};
    for (const int i : order) {
      guards[static_cast<std::size_t>(i)].reset();
      int innermost = 0;  // index of the innermost guard alive
      for (int k = 0; k < 3; ++k)
        innermost = guards[static_cast<std::size_t>(k)] ? k + 1 : innermost;
      EXPECT_EQ(number, innermost);
    }
    EXPECT_EQ(number, 0);
  }
}

TEST(GuardedValue, VariablesAreIndependent) {
  auto outer = guard(1);
  const ScopedValue<int> inner(other, 2);
  outer.reset();
  EXPECT_EQ(number, 0);
  EXPECT_EQ(other, 2);
}

TEST(GuardedValue, OutlivesTheScopeOfALocalVariable) {
  std::unique_ptr<Guard> inner;
  {
    const ScopedValue<int> outer(number, 1);
    inner = guard(2);
  }
  EXPECT_EQ(number, 2);
  inner.reset();
  EXPECT_EQ(number, 0);
}

TEST(GuardedValue, EndedOnAnotherThreadEndsWithTheNextGuardOfItsThread) {
  for (const bool is_innermost : {true, false}) {
    auto abandoned = guard(1);
    auto inner = is_innermost ? nullptr : guard(2);
    EXPECT_EQ(said([&] {
                std::thread([&] {
                  abandoned.reset();
                  EXPECT_EQ(number, 0);  // the variable of this thread
                }).join();
              }),
              kWarning);
    EXPECT_EQ(number, is_innermost ? 1 : 2);
    if (is_innermost) {
      const ScopedValue<int> next(other, 1);
      EXPECT_EQ(number, 0);
    }
    inner.reset();
    EXPECT_EQ(number, 0);
  }
}

TEST(GuardedValue, MayOutliveItsThread) {
  std::unique_ptr<Guard> left;
  std::thread([&] { left = guard(1); }).join();
  EXPECT_EQ(said([&] { left.reset(); }), kWarning);
  EXPECT_EQ(number, 0);
  std::thread([] {
    const auto fresh = guard(2);
    EXPECT_EQ(number, 2);
  }).join();
}

TEST(GuardedValue, KeepsTheOwnerAlive) {
  static thread_local const int* pointer = nullptr;
  auto owner = std::make_shared<const int>(7);
  const std::weak_ptr<const int> alive = owner;
  std::optional<GuardedValue<const int*>> scope;
  scope.emplace("Guard", pointer, owner.get(), owner);
  owner.reset();
  said([&] { std::thread([&] { scope.reset(); }).join(); });
  EXPECT_EQ(*pointer, 7);
  ScopeEntry<const int*>::end_abandoned();
  EXPECT_EQ(pointer, nullptr);
  EXPECT_TRUE(alive.expired());
}

}  // namespace
}  // namespace halfgrad::detail
