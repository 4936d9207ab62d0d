#include <halfgrad/autograd/op_observer.h>

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace {

/// Writes down what it is told: "+exp" and "-" for the start and the end of an op, "exp" for the
/// call, "d exp" for its part of a backward pass, "leaf" for a leaf's gradient.
class Notes : public OpObserver {
 public:
  void starts(const OpStart& start) override { seen.push_back("+" + std::string(start.op)); }
  void ends() override { seen.push_back("-"); }
  void ran(const OpCall& call) override { seen.emplace_back(call.op); }
  void ran_backward(const BackwardCall& call) override {
    seen.push_back("d " + std::string(call.node.name()));
  }
  void received(const Tensor&, const Tensor&) override { seen.emplace_back("leaf"); }

  std::vector<std::string> seen;
};

using Seen = std::vector<std::string>;
const Seen kExp{"+exp", "exp", "-"};

Tensor x() { return tensor({1.0, 2.0}); }

TEST(OpObserver, EachOfNestedGuardsIsNotifiedOfTheWholeStep) {
  Notes outer, inner;
  const Tensor leaf = x().set_requires_grad(true);
  {
    const OpObserverGuard outer_guard(outer);
    const OpObserverGuard inner_guard(inner);
    exp(leaf).sum().backward();
  }
  static_cast<void>(exp(x()));
  EXPECT_EQ(outer.seen, inner.seen);
  const Seen forward(inner.seen.begin(), inner.seen.begin() + 3);
  EXPECT_EQ(forward, kExp);
  EXPECT_NE(std::find(inner.seen.begin(), inner.seen.end(), "d exp"), inner.seen.end());
  EXPECT_EQ(std::count(inner.seen.begin(), inner.seen.end(), "leaf"), 1);
}

TEST(OpObserver, OneThatIsInstalledTwiceIsNotifiedOnce) {
  Notes notes;
  const OpObserverGuard outer_guard(notes);
  const OpObserverGuard inner_guard(notes);
  static_cast<void>(exp(x()));
  EXPECT_EQ(notes.seen, kExp);
}

TEST(OpObserver, PauseHidesOpsFromOuterGuardsOnly) {
  Notes outer, inner;
  const OpObserverGuard outer_guard(outer);
  {
    const OpObserverPause pause;
    static_cast<void>(exp(x()));
    const OpObserverGuard inner_guard(inner);
    static_cast<void>(exp(x()));
  }
  EXPECT_EQ(outer.seen, Seen());
  EXPECT_EQ(inner.seen, kExp);
  static_cast<void>(exp(x()));
  EXPECT_EQ(outer.seen, kExp);
}

TEST(OpObserver, AnOuterGuardMayEndFirst) {
  Notes outer, inner;
  std::optional<OpObserverGuard> outer_guard(std::in_place, outer);
  const OpObserverGuard inner_guard(inner);
  outer_guard.reset();
  static_cast<void>(exp(x()));
  EXPECT_EQ(outer.seen, Seen());
  EXPECT_EQ(inner.seen, kExp);
}

/// Ends another observer's guard when an op starts.
class Ender : public Notes {
 public:
  explicit Ender(std::optional<OpObserverGuard>& guard) : guard_(guard) {}
  void starts(const OpStart&) override { guard_.reset(); }

 private:
  std::optional<OpObserverGuard>& guard_;
};

TEST(OpObserver, IsNotNotifiedAfterItsGuardEndedInsideAnOp) {
  Notes notes;
  std::optional<OpObserverGuard> guard(std::in_place, notes);
  Ender ender(guard);
  const OpObserverGuard ender_guard(ender);
  static_cast<void>(exp(x()));
  EXPECT_EQ(notes.seen, Seen());
  EXPECT_EQ(ender.seen, (Seen{"exp", "-"}));
}

/// Installs another observer when an op starts.
class Beginner : public Notes {
 public:
  explicit Beginner(OpObserver& other) : other_(other) {}
  void starts(const OpStart&) override {
    if (!guard_) guard_.emplace(other_);
  }

 private:
  OpObserver& other_;
  std::optional<OpObserverGuard> guard_;
};

TEST(OpObserver, OneInstalledInsideAnOpIsNotToldOfTheEndOfThatOp) {
  Notes notes;
  Beginner beginner(notes);
  const OpObserverGuard guard(beginner);
  static_cast<void>(exp(x()));
  EXPECT_EQ(notes.seen, (Seen{"exp"}));
}

}  // namespace
}  // namespace halfgrad
