#pragma once

#include <halfgrad/amp/inspector/op_timer.h>

namespace halfgrad::report {

/// Times the ops of training steps. Forward ops that record no graph, such as those that compute an
/// accuracy, are left out.
class StepTimer : public amp::OpTimer {
 public:
  using OpTimer::OpTimer;

  void starts(const OpStart& start) override;
  void ends() override;
  void ran(const OpCall& call) override;

 private:
  int left_out_ = 0;  // calls that have started
};

}  // namespace halfgrad::report
