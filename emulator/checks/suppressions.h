#pragma once

#include <string>
#include <vector>

#include <halfgrad/emulator/checks/finding.h>

namespace halfgrad::emulator {

/// Findings that the user knows and does not want to be alarmed about: they become notes.
///
/// A file of suppressions has one on each line: the kind of a finding or `*`, a space, and a text
/// that its report must contain. A line that begins with # is a comment.
///
///     race       scan.cu:120
///     *          in kernel void cub::
class Suppressions {
 public:
  Suppressions() = default;
  /// Reads a file. Throws std::runtime_error if it cannot be read, or names the line that is wrong.
  static Suppressions read(const std::string& path);

  /// Makes the finding a note if a line of the file fits it.
  void apply(Finding& finding) const;

 private:
  struct Line {
    std::string kind, text;
  };
  std::vector<Line> lines_;
};

}  // namespace halfgrad::emulator
