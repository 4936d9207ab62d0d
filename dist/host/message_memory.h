#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::dist {

/// Keeps an array until the program ends if an exception leaves this scope: after a failed
/// exchange, a late message may still be written to the array or read from it.
class MessageMemory {
 public:
  explicit MessageMemory(Array array) : array_(std::move(array)) {}
  ~MessageMemory();
  MessageMemory(const MessageMemory&) = delete;
  MessageMemory& operator=(const MessageMemory&) = delete;

  const Array& array() const { return array_; }
  std::byte* data() const { return array_.data(); }

 private:
  Array array_;
};

}  // namespace halfgrad::dist
