#include <halfgrad/core/device.h>

#include <charconv>
#include <ostream>
#include <stdexcept>

#include <halfgrad/core/cuda/runtime/runtime.h>
#include <halfgrad/core/fail.h>

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
  detail::fail("Device", "expected \"cpu\", \"cuda\" or \"cuda:N\", got \"{}\"", text);
}

void Device::refuse_index(int index) {
  detail::fail("Device", "expected an index of at least 0, got {}", index);
}

std::string Device::str() const {
  if (*this == Device()) return "cpu";
  return (is_cpu() ? "cpu:" : "cuda:") + std::to_string(index_);
}

std::ostream& operator<<(std::ostream& out, DeviceType type) {
  return out << (type == kCPU ? "cpu" : "cuda");
}

std::ostream& operator<<(std::ostream& out, Device device) { return out << device.str(); }

namespace cuda {

int device_count() {
  static const int count = detail::runtime::device_count();
  return count;
}

bool is_available() { return device_count() > 0; }

std::string why_unavailable() {
  return is_available() ? std::string() : detail::runtime::why_unavailable();
}

int current_device() {
  if (!is_available()) {
    detail::fail<std::runtime_error>("current_device", "expected a GPU, got none ({})",
                                     why_unavailable());
  }
  return detail::runtime::current_device();
}

void set_device(int index) {
  if (index < 0 || index >= device_count()) {
    const std::string reason = is_available() ? "" : " (" + why_unavailable() + ")";
    detail::fail("set_device", "expected an index in [0, {}), got {}{}", device_count(), index,
                 reason);
  }
  detail::runtime::set_device(index);
}

}  // namespace cuda

namespace {

// The value that the DeviceGuards of this thread set and restore.
thread_local constinit int guarded_device = 0;

}  // namespace

DeviceGuard::DeviceGuard(Device device) {
  if (device.is_cpu()) return;
  const int current = cuda::is_available() ? cuda::current_device() : -1;
  if (current == device.index()) return;
  cuda::set_device(device.index());
  guarded_device = current;
  index_.emplace("DeviceGuard", guarded_device, device.index());
}

DeviceGuard::~DeviceGuard() {
  if (!index_ || !index_->end()) return;
  try {
    detail::runtime::set_device(guarded_device);
  } catch (const std::runtime_error&) {
    // The GPU is lost; the next call to it throws the error.
  }
}

}  // namespace halfgrad
