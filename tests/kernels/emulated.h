#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/kernels/kernel_folder.h>

namespace halfgrad::tests {

/// One run of a program under halfgrad-emulate.
class Emulated {
 public:
  /// `command` is the name of a program in kernel_folder(), and its arguments.
  explicit Emulated(const std::string& command) {
    const Folder folder;
    const std::filesystem::path report = folder / "report.json";
    const std::string line = std::string(HALFGRAD_EMULATE) + " --quiet --json '" + report.string() +
                             "' '" + kernel_folder().string() + "/'" + command + " 2>&1";
    FILE* const pipe = ::popen(line.c_str(), "r");
    if (pipe == nullptr) return;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
      output_ += static_cast<char>(c);
    }
    ::pclose(pipe);
    std::ifstream file(report);
    report_ = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  }

  /// "right", or how the result is wrong.
  std::string output() const { return output_.substr(0, output_.find('\n')); }

  /// The first error that the emulator found; "" if there is none.
  std::string finding() const {
    if (report_.is_discarded()) return "the emulator wrote no report: " + output_;
    for (const auto& finding : report_.at("findings")) {
      if (finding.at("severity") == "error") return finding.at("text").get<std::string>();
    }
    return "";
  }

  /// The sum of a counter over all kernels.
  double counter(const char* name) const {
    double sum = 0;
    if (report_.is_discarded()) return -1;
    for (const auto& launch : report_.at("launches")) {
      sum += launch.at("total").at(name).get<double>();
    }
    return sum;
  }

 private:
  std::string output_;
  nlohmann::json report_;
};

}  // namespace halfgrad::tests
