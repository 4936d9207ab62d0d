#include <halfgrad/core/device.h>

#include <charconv>
#include <stdexcept>

namespace halfgrad {

Device::Device(std::string_view text) : type_(DeviceType::cpu), index_(0) {
  if (text == "cpu") return;
  constexpr std::string_view kPrefix = "cuda";
  std::string_view rest = text;
  if (rest.starts_with(kPrefix)) {
    type_ = DeviceType::cuda;
    rest.remove_prefix(kPrefix.size());
    if (rest.empty()) return;
    if (rest.front() == ':') {
      const char* const end = rest.data() + rest.size();
      const auto [parsed, error] = std::from_chars(rest.data() + 1, end, index_);
      if (error == std::errc{} && parsed == end && index_ >= 0) return;
    }
  }
  throw std::invalid_argument("Device: expected \"cpu\", \"cuda\" or \"cuda:N\", got \"" +
                              std::string(text) + "\"");
}

std::string Device::str() const { return is_cpu() ? "cpu" : "cuda:" + std::to_string(index_); }

namespace cuda {

bool is_available() { return false; }

}  // namespace cuda

}  // namespace halfgrad
