#pragma once

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

/// Checks of option values that CLI11 lacks: its own accept NaN and missing folders. Each returns
/// the error message, or an empty string.
namespace checks {

/// Parses a number; returns NaN for other text.
inline double number(const std::string& text) {
  double value = NAN;
  return CLI::detail::lexical_cast(text, value) ? value : NAN;
}

inline std::string positive(const std::string& text) {
  const double value = number(text);
  return std::isfinite(value) && value > 0 ? "" : "expected a finite number above 0, got " + text;
}

/// Checks a seed, an unsigned integer of 64 bits. CLI11 itself accepts -1, and clamps what is too
/// large.
inline std::string seed(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) return "";
  return fmt::format("expected an integer in [0, {}], got {}",
                     std::numeric_limits<std::uint64_t>::max(), text);
}

inline auto within(double low, double high) {
  return [low, high](const std::string& text) -> std::string {
    const double value = number(text);
    if (value >= low && value <= high) return "";
    return fmt::format("expected a number in [{}, {}], got {}", low, high, text);
  };
}

/// Checks that a file can be written at the end of the work: its folder must exist and be writable,
/// because files are replaced by renaming; a device or a pipe must itself be writable.
inline std::string writable(const std::string& text) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(text, error);
  if (fs::is_directory(status)) return "expected a file, got the folder " + text;
  const bool is_device = fs::exists(status) && !fs::is_regular_file(status);
  fs::path file = is_device ? fs::path(text) : fs::canonical(text, error);
  if (file.empty()) file = text;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) {
    return fmt::format("create the folder {} first", folder.string());
  }
  constexpr std::size_t kLongestName = 255;  // bytes
  if (file.filename().string().size() > kLongestName) {
    return fmt::format("expected a name of at most {} bytes, got {}", kLongestName,
                       file.filename().string().size());
  }
  const fs::path& target = is_device ? file : folder;
  if (access(target.c_str(), W_OK) == 0) return "";
  return fmt::format("expected a file or folder that can be written, got {}", target.string());
}

/// Throws CLI::ValidationError if two of these options with their files name one file, which the
/// second would overwrite. Empty paths and devices are left out.
inline void different_files(
    const std::vector<std::pair<std::string, std::filesystem::path>>& options) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& [option, path] : options) {
    const bool is_device = fs::exists(path, error) && !fs::is_regular_file(path, error);
    files.push_back(path.empty() || is_device
                        ? fs::path()
                        : fs::weakly_canonical(fs::absolute(path, error), error));
    for (std::size_t i = 0; i + 1 < files.size(); ++i) {
      if (files.back().empty() || files[i] != files.back()) continue;
      throw CLI::ValidationError(fmt::format("{}: expected another file than that of {}, got {}",
                                             option, options[i].first, path.string()));
    }
  }
}

}  // namespace checks
