#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include <halfgrad/testing/kernel_call.h>
#include <halfgrad/testing/kernel_case.h>

namespace halfgrad::testing {

/// An access of a kernel to memory that it may not touch, described by an array of the call.
struct StrayAccess {
  Fault fault = Fault::out_of_bounds;
  std::size_t array = 0;      ///< inputs first, then outputs
  std::string before, after;  ///< the message, around the name of the array

  std::string described(const std::string& array_name) const { return before + array_name + after; }
};

namespace detail {

/// Describes an access that ended a kernel's process, by the call that ran and those before it.
class CallHistory {
 public:
  /// Notes a call that begins.
  void begin(const KernelCall& call);
  bool has_calls() const { return last_.count > 0; }

  /// Describes the access at `address`, an offset in the shared memory. Outputs can be written
  /// during a call, so a write to one came after its return.
  StrayAccess described(std::uint64_t address, bool wrote) const;

 private:
  struct Output {
    CallArray array;
    std::size_t number = 0;
  };
  StrayAccess beside_array(std::uint64_t address, bool wrote) const;
  /// The output at an address: of the last call or, outside its arrays and their guards, of an
  /// earlier one.
  std::optional<Output> output_at(std::uint64_t address) const;

  KernelCall last_;
  std::deque<Output> outputs_;
};

}  // namespace detail
}  // namespace halfgrad::testing
