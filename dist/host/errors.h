#pragma once

#include <chrono>
#include <string>
#include <vector>

/// The texts of errors that every Transport throws.
namespace halfgrad::dist {

/// Returns text such as "0.5 s".
std::string text_of(std::chrono::milliseconds time);

/// Throws CommunicationError: these ranks did not answer within the time-out.
[[noreturn]] void fail_silent(const std::vector<std::string>& names,
                              std::chrono::milliseconds timeout);

/// Throws CommunicationError: a rank has left.
[[noreturn]] void fail_left(const std::string& name, const std::string& reason);

/// Throws CommunicationError: this rank itself gives up.
[[noreturn]] void fail_interrupted();

}  // namespace halfgrad::dist
