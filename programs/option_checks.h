#pragma once

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

/// What the programs ask of their options beyond CLI11's own checks, to which NaN is a number like
/// others and a missing folder no matter. Each returns what is wrong, or nothing.
namespace checks {

/// NaN for what is no number.
inline double number(const std::string& text) {
  double value = NAN;
  return CLI::detail::lexical_cast(text, value) ? value : NAN;
}

inline std::string positive(const std::string& text) {
  const double value = number(text);
  return std::isfinite(value) && value > 0 ? "" : "expected a finite number above 0, got " + text;
}

inline auto within(double low, double high) {
  return [low, high](const std::string& text) -> std::string {
    const double value = number(text);
    if (value >= low && value <= high) return "";
    return fmt::format("expected a number on [{}, {}], got {}", low, high, text);
  };
}

/// A file that may be written at the end of the work, and so in a folder that is there: files are
/// replaced as a whole, while devices and pipes are written to.
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
  const fs::path& place = is_device ? file : folder;
  if (access(place.c_str(), W_OK) == 0) return "";
  return fmt::format("expected a place that can be written to, got {}", place.string());
}

}  // namespace checks
