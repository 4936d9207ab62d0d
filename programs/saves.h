#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace programs {

/// The saves of a training's checkpoint to one file. A save that fails, as on a full disk, does not
/// end the training: the file keeps its old contents, and the next save tries again.
class Saves {
 public:
  /// Without a file, save() does nothing.
  Saves() = default;
  Saves(std::string program, std::filesystem::path file)
      : program_(std::move(program)), file_(std::move(file)) {}

  /// Calls write(), which replaces the file, after `step` steps. Warns on standard error if it
  /// throws a std::runtime_error; passes other errors on.
  void save(std::int64_t step, const std::function<void(const std::filesystem::path&)>& write);

  /// The step whose state the file holds; nullopt if no save has succeeded.
  std::optional<std::int64_t> saved_step() const { return saved_step_; }

  /// Returns 0, or 1 if a save failed; then says on standard error how many did, and what the file
  /// holds.
  int conclude() const;

 private:
  std::string program_;
  std::filesystem::path file_;
  std::int64_t attempts_ = 0, failures_ = 0;
  std::optional<std::int64_t> saved_step_;
};

}  // namespace programs
