#include <halfgrad/report/step_timer.h>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/graph/grad_scale.h>

namespace halfgrad::report {
namespace {

bool is_evaluation() {
  return !GradMode::is_enabled() && !halfgrad::detail::BackwardScale::is_running();
}

}  // namespace

void StepTimer::starts(const OpStart& start) {
  if (left_out_ > 0 || is_evaluation()) {
    ++left_out_;
  } else {
    OpTimer::starts(start);
  }
}

void StepTimer::ends() {
  if (left_out_ > 0) {
    --left_out_;
  } else {
    OpTimer::ends();
  }
}

void StepTimer::ran(const OpCall& call) {
  if (!is_evaluation()) OpTimer::ran(call);
}

}  // namespace halfgrad::report
