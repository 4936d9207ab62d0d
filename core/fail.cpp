#include <halfgrad/core/fail.h>

#include <array>
#include <charconv>

namespace halfgrad::detail {

std::string message_part(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string message(std::string_view op, std::string_view format,
                    std::initializer_list<std::string> parts) {
  std::string text = std::string(op) + ": ";
  for (const std::string& part : parts) {
    const std::size_t hole = format.find("{}");
    text.append(format.substr(0, hole)).append(part);
    format.remove_prefix(hole + 2);
  }
  return text.append(format);
}

}  // namespace halfgrad::detail
