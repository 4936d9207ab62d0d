#pragma once

#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace halfgrad::files {

/// An open file of the system, closed at the end. Calls leave the reason of a failure in errno.
class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const std::filesystem::path& path, int flags, mode_t mode = 0)
      : number_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() {
    if (is_open()) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_ = -1;
};

}  // namespace halfgrad::files
