#include "course.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <halfgrad/core/gemm.h>
#include <halfgrad/programs/command_line.h>

namespace course {

Chapter::Chapter(int argc, char** argv, Options options) : options_(std::move(options)) {
  programs::CommandLine app("course_" + options_.slug, options_.does);
  steps_ = options_.steps;
  if (options_.steps > 0) {
    app.add_option("--steps", steps_, "Length of each training; the text quotes the default")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
  }
  app.add_option("--pictures", pictures_, "Folder to write the chapter's pictures to, as SVG")
      ->check(CLI::ExistingDirectory);
  app.parse_or_exit(argc, argv);
  halfgrad::backends::cpu::set_allow_amx(false);  // facts are the same on every machine
}

int Chapter::run(const std::function<void()>& body) const {
  return programs::run("course_" + options_.slug, [&] {
    body();
    return 0;
  });
}

void Chapter::fact(const std::string& name, double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, programs::printed(value));
  fact(name, std::string(text, end.ptr));
}

void Chapter::fact(const std::string& name, const std::string& value) {
  if (name.empty() ||
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos) {
    throw std::invalid_argument("fact: expected a name of a-z, 0-9 and _, got " + name);
  }
  if (!facts_.emplace(name, value).second) {
    throw std::invalid_argument("fact: expected each name once, got a second " + name);
  }
  std::printf("%s = %s\n", name.c_str(), value.c_str());
}

void Chapter::picture(const std::string& name, const std::string& svg) const {
  if (pictures_.empty()) return;
  const std::string path =
      (std::filesystem::path(pictures_) / (options_.slug + "-" + name + ".svg")).string();
  std::ofstream file(path, std::ios::binary);
  file << svg;
  file.close();
  if (!file) throw std::runtime_error("picture: expected to write " + path + ", but could not");
  std::printf("wrote %s\n", path.c_str());
}

}  // namespace course
