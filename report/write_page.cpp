#include <halfgrad/report/write_page.h>

#include <stdexcept>

#include <halfgrad/core/error.h>
#include <halfgrad/report/page_files.h>
#include <halfgrad/report/write_json.h>

namespace halfgrad::report {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else {
      result += c;
    }
  }
  return result;
}

/// Replaces the first `placeholder` in `text`.
std::string filled(const std::string& text, const std::string& placeholder,
                   const std::string& with) {
  const std::size_t at = text.find(placeholder);
  if (at == std::string::npos) {
    throw halfgrad::detail::Raised<std::logic_error>("report: expected " + placeholder +
                                                     " in page.html, got none");
  }
  return text.substr(0, at) + with + text.substr(at + placeholder.size());
}

}  // namespace

std::string page_of(const PageRecord& record) {
  std::string page = page_files::kMarkup;
  page = filled(page, "<!-- title -->", escaped(record.title));
  page = filled(page, "/* style */", page_files::kStyle);
  page = filled(page, "<!-- data -->", json_of(record));
  return filled(page, "/* script */", page_files::kScript);
}

}  // namespace halfgrad::report
