#include <halfgrad/programs/saves.h>

#include <cstdio>
#include <stdexcept>

#include <fmt/core.h>

namespace programs {

void Saves::save(std::int64_t step,
                 const std::function<void(const std::filesystem::path&)>& write) {
  if (file_.empty()) return;
  ++attempts_;
  try {
    write(file_);
    saved_step_ = step;
  } catch (const std::runtime_error& error) {
    fmt::print(stderr, "{}: warning: not saved after step {}: {}\n", program_, step, error.what());
    if (++failures_ == 1) {
      fmt::print(stderr, "The training goes on and tries again; {} keeps its old contents.\n",
                 file_.string());
    }
  }
}

int Saves::conclude() const {
  if (failures_ == 0) return 0;
  fmt::print(stderr, "{}: {} of {} saves failed; ", program_, failures_, attempts_);
  if (saved_step_) {
    fmt::print(stderr, "{} holds step {}\n", file_.string(), *saved_step_);
  } else {
    fmt::print(stderr, "{} was not written\n", file_.string());
  }
  return 1;
}

}  // namespace programs
