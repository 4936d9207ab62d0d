#include <halfgrad/report/write_files.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <string>

#include <halfgrad/files/replace_file.h>
#include <halfgrad/files/temporary_file.h>
#include <halfgrad/report/write_csv.h>
#include <halfgrad/report/write_json.h>
#include <halfgrad/report/write_page.h>

namespace halfgrad::report {
namespace fs = std::filesystem;
namespace {

constexpr const char* kEndings[] = {".data.json",     ".runs.csv", ".steps.csv",
                                    ".exponents.csv", ".ops.csv",  ".costs.csv"};

bool is_replaced(const fs::path& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  return !fs::exists(status) || fs::is_regular_file(status);
}

fs::path beside(fs::path page, const char* ending) { return page.replace_extension(ending); }

void write(const fs::path& file, const std::string& text) {
  files::replace_file(file, std::as_bytes(std::span(text)));
}

}  // namespace

void check_writable(const fs::path& page) {
  if (fs::is_directory(page)) {
    throw files::WriteError("RunReport: expected a file for the page, got the folder " +
                            page.string());
  }
  if (!is_replaced(page)) return;
  const files::TemporaryFile file(page);
  if (file.is_open()) return;
  const int reason = errno;
  throw files::WriteError("RunReport: expected to write " + page.string() +
                          ", got: " + std::strerror(reason));
}

void write_files(const fs::path& page, const PageRecord& record) {
  if (is_replaced(page)) {
    const std::string texts[] = {json_of(record),       runs_csv(record), steps_csv(record),
                                 exponents_csv(record), ops_csv(record),  costs_csv(record)};
    for (std::size_t i = 0; i < std::size(texts); ++i) write(beside(page, kEndings[i]), texts[i]);
  }
  write(page, page_of(record));
}

}  // namespace halfgrad::report
