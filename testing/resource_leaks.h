#pragma once

#include <cstdint>
#include <string>

/// Memory and files that a kernel takes in each call and never gives back.
namespace halfgrad::testing::detail {

/// Watches the process over many calls. A cache or a workspace grows for a while; memory that grows
/// in each of eight intervals of 256 calls is lost.
class ResourceLeaks {
 public:
  /// Begins with what the process has now.
  ResourceLeaks();

  /// Called after each call of the kernel. Describes a leak; empty if there is none so far.
  std::string after_call();

 private:
  struct Growth {
    std::int64_t last, first;  // bytes, at the last look and before the growth began
    int intervals = 0;
    /// Looks again; true once the value has grown long enough.
    bool goes_on(std::int64_t now);
  };

  int first_file_;
  std::int64_t calls_ = 0;
  Growth heap_{}, pages_{};
};

}  // namespace halfgrad::testing::detail
