#pragma once

#include <memory>
#include <mutex>

namespace halfgrad {
class Storage;

namespace detail {

/// A computation that waits until something reads its result. If nothing does, it costs nothing. To
/// *settle* it means to run it, unless it has run.
class Deferred {
 public:
  Deferred() = default;
  virtual ~Deferred() = default;
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;

  /// Runs the computation unless it has run. Any thread may call this.
  void settle() {
    std::call_once(once_, [this] { compute(); });
  }
  /// Runs `f` in place of the computation, unless that has run. `f` must compute the same result,
  /// and may compute more. Returns whether it ran `f`.
  template <class F>
  bool settle_by(const F& f) {
    bool ran = false;
    std::call_once(once_, [&] {
      f();
      ran = true;
    });
    return ran;
  }
  /// Returns whether the computation reads these elements, so that it must be settled before they
  /// change.
  virtual bool reads(const Storage& /*elements*/) const { return false; }

 private:
  virtual void compute() = 0;

  std::once_flag once_;
};

/// Remembers a computation, as long as it exists, for settle_deferred().
void remember(const std::shared_ptr<Deferred>& deferred);

/// Settles every remembered computation. Call it before an operand of such a computation is
/// overwritten. A capture of a graph calls it at its begin and at its end. So a computation that
/// was deferred before the capture is not captured, and one of the capture is not left out.
void settle_deferred();

/// Settles the computations that read these elements. Call it before the elements are overwritten.
void settle_readers(const Storage& elements);

}  // namespace detail
}  // namespace halfgrad
