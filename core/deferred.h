#pragma once

#include <memory>
#include <mutex>

namespace halfgrad {
class Storage;

namespace detail {

/// A computation that waits until something reads its result. If nothing does, it costs nothing.
class Deferred {
 public:
  Deferred() = default;
  virtual ~Deferred() = default;
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;

  /// Runs it unless it has run. Any thread may call this.
  void settle() {
    std::call_once(once_, [this] { compute(); });
  }
  /// Runs `f` in its place, which computes the same result among others, and returns true; returns
  /// false if it has run.
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

/// Settles everything that is remembered. Call it before an operand of such a computation is
/// overwritten. A capture of a graph begins and ends with it: work that was given before a capture
/// must not become part of it, and work of the capture must not be left out.
void settle_deferred();

/// Settles those that read these elements. Call it before the elements are overwritten.
void settle_readers(const Storage& elements);

}  // namespace detail
}  // namespace halfgrad
