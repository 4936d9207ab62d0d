#include <halfgrad/programs/outputs.h>

#include <cstdio>
#include <stdexcept>

#include <fmt/core.h>

namespace programs {

void Outputs::write(const std::function<void()>& write) {
  try {
    write();
  } catch (const std::runtime_error& error) {
    has_failed_ = true;
    fmt::print(stderr, "{}: {}\n", program_, error.what());
  }
}

}  // namespace programs
