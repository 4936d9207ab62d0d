#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfgrad/amp/inspector/named_model.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/core/graph_replay.h>
#include <halfgrad/core/stream.h>

namespace halfgrad::amp {

/// One call of an op, or of its part of a backward pass, with its time.
struct TimedCall {
  std::int64_t id = 0;        ///< calls are numbered from 0 as they start
  std::int64_t parent = -1;   ///< id of the call that this one is part of; -1: none
  std::int64_t forward = -1;  ///< backward only: id of the op's forward call; -1: not observed
  std::string op = {};
  std::string module = {};        ///< dotted path of the module that called the op forward
  DType dtype = kFloat;           ///< the result's, or the incoming gradient's
  bool is_backward = false;       ///< ran in a backward pass
  bool is_derivative = false;     ///< the op's part of a backward pass, not a forward op in it
  bool is_composite = false;      ///< a loss that consists of the calls in it
  double start = 0;               ///< in seconds since the observer was made
  double seconds = 0;             ///< with the calls in it
  double self_seconds = 0;        ///< without them
  std::int64_t result_bytes = 0;  ///< memory of the result or the gradients; 0 for views
  /// Kernels, copies and library calls on a GPU, without the calls in it.
  std::int64_t launches = 0;
  std::int64_t live_bytes = 0;  ///< memory that arrays of the device hold at the end of the call
};

/// Base of observers that time ops. The device's clock is read through events on the stream that is
/// current when an op starts: the host does not wait. The ops of a captured graph are not timed;
/// each replay is a call with the name kGraphReplay and the launches of the graph. An op that
/// throws is left out. Views start and end at the same time.
class TimedOps : public OpObserver {
 public:
  static constexpr const char* kGraphReplay = "graph replay";

  explicit TimedOps(NamedModel model = {});

  /// Names the modules and parameters of the ops from now on.
  void set_model(NamedModel model) { model_ = std::move(model); }
  /// Waits for the work of the calls that have ended, and passes them to timed().
  void finish();
  /// Seconds since this object was made, on the clock of TimedCall::start.
  double now() const;

  void starts(const OpStart& start) override;
  void ends() override;
  void ran(const OpCall& call) override;
  void ran_backward(const BackwardCall& call) override;

 protected:
  /// Takes calls that have been timed, in the order of their starts: a call that is part of no
  /// other, and all that it consists of.
  virtual void timed(std::span<const TimedCall> calls) = 0;
  /// The id of the next call to start.
  std::int64_t next_id() const { return next_id_; }

 private:
  /// A call whose time is not known yet.
  struct Pending {
    TimedCall call = {};
    Device device;
    Event start{true}, end{true};
    bool is_timed = false;  // start was recorded
    bool ran = false;
  };
  using Tree = std::vector<Pending>;

  /// The zero of a device's clock.
  struct Anchor {
    Event event{true};
    double at = 0;  // now() when it was recorded
  };

  /// The forward call that made a node. Another node may get its address later.
  struct Maker {
    std::uint64_t sequence;
    std::int64_t call;
    std::string module;
  };

  static void replay(const halfgrad::detail::GraphReplay& replay, bool is_queued);
  const Maker* maker_of(const detail::Node& node) const;
  Pending& begin(const OpStart& start, Device device);
  void end(Pending& pending);
  void hand_over(bool waits);
  std::vector<TimedCall> resolve(const Tree& tree);

  NamedModel model_;
  Event created_ = now_on_cpu();
  std::int64_t next_id_ = 0;
  Tree tree_;                      // the call that is part of no other, and those in it
  std::vector<std::size_t> open_;  // indices in tree_ of calls that have not ended, outermost first
  std::deque<Tree> ended_;         // trees whose work may still run
  std::map<Device, Anchor> anchors_;
  std::unordered_map<const detail::Node*, Maker> makers_;

  static Event now_on_cpu();
};

}  // namespace halfgrad::amp
