#pragma once

#include <functional>
#include <string>
#include <utility>

namespace programs {

/// The files that a program writes at its end. One that cannot be written, as on a full disk, does
/// not keep the others from being written.
class Outputs {
 public:
  explicit Outputs(std::string program) : program_(std::move(program)) {}

  /// Calls write(). Prints the message of a std::runtime_error on standard error.
  void write(const std::function<void()>& write);

  /// Returns `status`, or 1 if that is 0 and a file was not written.
  int conclude(int status) const { return status == 0 && has_failed_ ? 1 : status; }

 private:
  std::string program_;
  bool has_failed_ = false;
};

}  // namespace programs
