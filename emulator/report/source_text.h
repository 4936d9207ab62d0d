#pragma once

#include <map>
#include <string>
#include <vector>

namespace halfgrad::emulator {

/// Lines of source files for reports. Files are read when they are first asked for.
class SourceText {
 public:
  /// Returns a line, counted from 1, without its indentation; "" if the file or the line is
  /// missing.
  std::string line(const std::string& file, unsigned number);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

/// The last part of a path.
std::string file_name(const std::string& path);

}  // namespace halfgrad::emulator
