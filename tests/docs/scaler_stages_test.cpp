// The state diagram of docs/mixed-precision.md has an arrow for each call that GradScaler allows.
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/halfgrad.h>

#include "page.h"

namespace halfgrad::tests {
namespace {

const std::vector<std::string> kCalls = {"unscale_()", "step()", "update()"};

// The calls that lead from `ready` to a stage.
const std::map<std::string, std::vector<std::string>> kWaysTo = {
    {"ready", {}}, {"unscaled", {"unscale_()"}}, {"stepped", {"step()"}}};

// Performs the calls on a new scaler with one scaled gradient. True if the last one does not throw.
bool is_allowed(const std::vector<std::string>& calls) {
  const Tensor w = ones({2}).requires_grad_();
  optim::SGD optimizer({w}, {.lr = 1});
  amp::GradScaler scaler;
  scaler.scale(w.mean()).backward();
  const std::map<std::string, std::function<void()>> actions = {
      {"unscale_()", [&] { scaler.unscale_(optimizer); }},
      {"step()", [&] { static_cast<void>(scaler.step(optimizer)); }},
      {"update()", [&] { scaler.update(); }}};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    try {
      actions.at(calls[i])();
    } catch (const std::runtime_error&) {
      EXPECT_EQ(i + 1, calls.size()) << calls[i] << " threw on the way to a stage";
      return false;
    }
  }
  return true;
}

// The stage that `call` leads to, as the diagram has it; "" without an arrow.
std::string arrow_from(const std::string& stage, const std::string& call) {
  const std::string diagram = text_of("docs/mixed-precision.md");
  for (const auto& [target, way] : kWaysTo) {
    const std::string arrow = "    " + stage + " --> " + target + ": " + call + "\n";
    if (diagram.find(arrow) != std::string::npos) return target;
  }
  return "";
}

TEST(MixedPrecision, TheStateDiagramHasTheCallsThatTheScalerAllows) {
  for (const auto& [stage, way] : kWaysTo) {
    for (const std::string& call : kCalls) {
      std::vector<std::string> calls = way;
      calls.push_back(call);
      const std::string target = arrow_from(stage, call);
      EXPECT_EQ(is_allowed(calls), !target.empty()) << call << " in stage " << stage;
      if (target.empty()) continue;
      // The stages differ in what they allow next: the arrow leads to the one that it names.
      for (const std::string& next : kCalls) {
        std::vector<std::string> further = calls;
        further.push_back(next);
        if (target == "ready") continue;  // a new iteration needs a new backward pass
        EXPECT_EQ(is_allowed(further), !arrow_from(target, next).empty())
            << next << " after " << call << " in stage " << stage;
      }
    }
  }
}

}  // namespace
}  // namespace halfgrad::tests
