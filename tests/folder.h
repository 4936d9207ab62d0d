#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

#include "bytes.h"

/// Files on disk, for tests.
namespace halfgrad::tests {

inline Bytes contents(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return bytes(std::string(std::istreambuf_iterator<char>(stream), {}));
}

/// A temporary folder for the files of one test. Its name has the process's number, for another run
/// of the same test at the same time.
class Folder {
 public:
  Folder() : path_(std::filesystem::path(::testing::TempDir()) / name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& file) const { return path_ / file; }

 private:
  static std::string name() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string("halfgrad_") + info->test_suite_name() + "_" + info->name() +
                       "_" + std::to_string(::getpid());
    std::replace(name.begin(), name.end(), '/', '_');
    return name;
  }
  std::filesystem::path path_;
};

}  // namespace halfgrad::tests
