#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include <halfgrad/core/language.h>

namespace halfgrad::detail {

/// The entry of one scope in the list of this thread's scopes that change a variable, innermost
/// first. Scopes may end in any order: a scope that ends before an inner scope of the same variable
/// passes its saved value to the inner scope, which restores it.
template <class T>
class ScopeEntry {
 public:
  ScopeEntry(T& variable, T value) : variable_(&variable) {
    end_abandoned();
    previous_ = std::exchange(variable, std::move(value));
    outer_ = std::exchange(innermost, this);
  }
  ScopeEntry(const ScopeEntry&) = delete;
  ScopeEntry& operator=(const ScopeEntry&) = delete;

  /// Restores the variable. On another thread than the scope's it does nothing and returns false.
  bool end() {
    if (!unlink()) return false;
    end_abandoned();
    return true;
  }

  /// Leaves end() to the scope's own thread: the next scope that begins or ends there restores the
  /// variable. Call it on another thread only. `keep_alive` owns this entry.
  void abandon(std::shared_ptr<void> keep_alive);

  /// Calls visit(value) for the variable's value, then for each value that a scope of this thread
  /// will restore, innermost scope first. `visit` must not begin or end such a scope.
  template <class F>
  static void each_value(const T& variable, const F& visit) {
    visit(variable);
    for (const ScopeEntry* entry = innermost; entry != nullptr; entry = entry->outer_) {
      if (entry->variable_ == &variable) visit(entry->previous_);
    }
  }

  /// Ends the innermost scopes that other threads have abandoned.
  static void end_abandoned();

 private:
  bool unlink() {
    T* restored = variable_;
    ScopeEntry** link = &innermost;
    for (; *link != this; link = &(*link)->outer_) {
      if (*link == nullptr) return false;
      if ((*link)->variable_ == variable_) restored = &(*link)->previous_;
    }
    *restored = std::move(previous_);
    *link = outer_;
    return true;
  }

  static inline thread_local constinit ScopeEntry* innermost = nullptr;

  T* variable_;
  T previous_{};
  ScopeEntry* outer_ = nullptr;
  std::atomic<bool> abandoned_{false};
};

/// Entries that other threads have abandoned, kept until their own thread ends them.
void keep_abandoned(const void* entry, std::shared_ptr<void> owner);
void release_abandoned(const void* entry);
void warn_of_other_thread(const char* guard);

template <class T>
void ScopeEntry<T>::abandon(std::shared_ptr<void> keep_alive) {
  keep_abandoned(this, std::move(keep_alive));
  abandoned_.store(true, std::memory_order_release);
}

template <class T>
void ScopeEntry<T>::end_abandoned() {
  while (innermost != nullptr && innermost->abandoned_.load(std::memory_order_acquire)) {
    ScopeEntry* const entry = innermost;
    entry->unlink();
    release_abandoned(entry);
  }
}

/// Gives a thread-local variable another value until the end of the scope. A ScopedValue must be a
/// local variable, which ends on the thread that it began on.
template <class T>
class ScopedValue {
 public:
  [[nodiscard]] ScopedValue(T& variable, T value) : entry_(variable, std::move(value)) {}
  ~ScopedValue() { entry_.end(); }
  ScopedValue(const ScopedValue&) = delete;
  ScopedValue& operator=(const ScopedValue&) = delete;

 private:
  ScopeEntry<T> entry_;
};

/// A ScopedValue for guards that users hold, perhaps on the heap. If destroyed on another thread,
/// it warns, naming `guard`, and ends when the next scope begins or ends on its own thread. `owner`
/// keeps alive what the value points to.
template <class T>
class GuardedValue {
 public:
  [[nodiscard]] GuardedValue(const char* guard, T& variable, T value,
                             std::shared_ptr<const void> owner = nullptr)
      : guard_(guard),
        state_(std::make_shared<State>(variable, std::move(value), std::move(owner))) {}
  ~GuardedValue() { end(); }
  GuardedValue(const GuardedValue&) = delete;
  GuardedValue& operator=(const GuardedValue&) = delete;

  /// Returns false on another thread, and if it has ended before.
  bool end() {
    const std::shared_ptr<State> state = std::move(state_);
    if (state == nullptr) return false;
    if (state->entry.end()) return true;
    state->entry.abandon(state);
    warn_of_other_thread(guard_);
    return false;
  }

 private:
  struct State {
    State(T& variable, T value, std::shared_ptr<const void> keeps_alive)
        : entry(variable, std::move(value)), owner(std::move(keeps_alive)) {}

    ScopeEntry<T> entry;
    std::shared_ptr<const void> owner;
  };

  const char* guard_;
  std::shared_ptr<State> state_;
};

}  // namespace halfgrad::detail
