#include <halfgrad/emulator/simt/printf_format.h>

#include <bit>
#include <cstdio>
#include <string_view>
#include <vector>

namespace halfgrad::emulator {
namespace {

/// One conversion: `%-8.3lld` has flags "-8.3", wide, conversion 'd'.
struct Conversion {
  std::string flags;
  bool wide = false;  ///< a size of l, ll, z, j or t
  int half = 0;       ///< 1: h, 2: hh
  char letter = 0;
};

bool is_one_of(char letter, std::string_view letters) {
  return letters.find(letter) != std::string_view::npos;
}

/// snprintf of one value into a string.
template <class T>
std::string print(const std::string& format, T value) {
  const int length = std::snprintf(nullptr, 0, format.c_str(), value);
  if (length <= 0) return "";
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), value);
  text.pop_back();
  return text;
}

/// Reads a conversion behind its percent sign; `at` moves behind it. Letter 0: the text ends.
Conversion read_conversion(const std::string& format, std::size_t& at, PrintfArguments& arguments) {
  Conversion result;
  for (; at < format.size() && is_one_of(format[at], "-+ #0123456789.*"); ++at) {
    if (format[at] != '*') {
      result.flags += format[at];
    } else {
      result.flags += std::to_string(static_cast<int>(arguments.next(4)));
    }
  }
  for (; at < format.size() && is_one_of(format[at], "lhzjtL"); ++at) {
    if (format[at] == 'h') {
      ++result.half;
    } else {
      result.wide = true;
    }
  }
  if (at < format.size()) result.letter = format[at++];
  return result;
}

std::string print_conversion(const Conversion& conversion, PrintfArguments& arguments) {
  const std::string flags = "%" + conversion.flags;
  const char letter = conversion.letter;
  if (is_one_of(letter, "aAeEfFgG")) {
    return print(flags + letter, std::bit_cast<double>(arguments.next(8)));
  }
  if (letter == 's') return print(flags + "s", arguments.string(arguments.next(8)).c_str());
  if (letter == 'p') return print(flags + "s", print("0x%llx", arguments.next(8)).c_str());
  if (letter == 'c') {
    // A character 0 has no place in a string that snprintf returns.
    const auto value = static_cast<char>(arguments.next(4));
    return value == 0 ? std::string(1, '\0') : print(flags + "c", static_cast<int>(value));
  }
  const std::uint64_t bits = arguments.next(conversion.wide ? 8 : 4);
  if (conversion.wide) return print(flags + "ll" + letter, static_cast<long long>(bits));
  const std::string size(static_cast<std::size_t>(conversion.half), 'h');
  return print(flags + size + letter, static_cast<int>(bits));
}

}  // namespace

PrintfResult format_printf(const std::string& format, PrintfArguments& arguments) {
  PrintfResult result;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      result.text += format[at++];
      continue;
    }
    const std::size_t begin = at++;
    const Conversion conversion = read_conversion(format, at, arguments);
    if (conversion.letter == '%') {
      result.text += '%';
    } else if (conversion.letter != 0 && is_one_of(conversion.letter, "aAeEfFgGspcdiuoxX")) {
      result.text += print_conversion(conversion, arguments);
      ++result.arguments;
    } else {
      result.text += format.substr(begin, at - begin);
    }
  }
  return result;
}

}  // namespace halfgrad::emulator
