#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

/// Files in memory, and a place for those on disk.
namespace halfgrad::tests {

using Bytes = std::vector<std::byte>;

inline Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

inline Bytes bytes(std::string_view text) {
  const auto all = std::as_bytes(std::span(text));
  return {all.begin(), all.end()};
}

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Bytes zeros(std::size_t count) { return Bytes(count); }

/// A number in `size` bytes, the lowest first.
inline Bytes little(unsigned long long value, int size) {
  Bytes result;
  for (int i = 0; i < size; ++i) result.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF));
  return result;
}

inline Bytes without_last(Bytes all, std::size_t count) {
  all.resize(all.size() - count);
  return all;
}

inline Bytes with_byte(Bytes all, std::size_t at, int value) {
  all.at(at) = static_cast<std::byte>(value);
  return all;
}

inline Bytes contents(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return bytes(std::string(std::istreambuf_iterator<char>(stream), {}));
}

/// A folder for one test's files.
class Folder {
 public:
  Folder() : path_(std::filesystem::path(testing::TempDir()) / name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& file) const { return path_ / file; }

 private:
  static std::string name() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string("halfgrad_") + info->test_suite_name() + "_" + info->name();
    std::replace(name.begin(), name.end(), '/', '_');
    return name;
  }
  std::filesystem::path path_;
};

}  // namespace halfgrad::tests
