#pragma once

#include <functional>
#include <map>
#include <string>

#include "chart.h"
#include "svg.h"

/// Options, facts and pictures of every chapter's program. A chapter with the slug 02_rounding is
/// examples/course/02_rounding.cpp:
///
///     #include "course.h"
///
///     int main(int argc, char** argv) {
///       course::Chapter chapter(argc, argv, {.slug = "02_rounding", .does = "Adds ones.", .steps =
///       60}); return chapter.run([&] {
///         for (int step = 0; step < chapter.steps(); ++step) { ... }
///         std::printf("fp16 stops at 2048.\n");
///         chapter.fact("stall_fp16", 2048);                   // prints "stall_fp16 = 2048"
///         chapter.picture("stall", course::line_chart(...));  //
///         docs/course/images/02_rounding-stall.svg
///       });
///     }
///
/// The text quotes the fact as `2048<!--stall_fp16-->`, and `tools/lesson check 2` compares. The
/// same program in Python is examples/course/python/02_rounding.py, with course.py beside it.
/// docs/course/README.md has the rules of texts, facts, exercises and exams.
namespace course {

struct Options {
  std::string slug;  ///< "02_rounding": the file's name
  std::string does;  ///< one sentence for --help
  int steps = 0;     ///< default of --steps N, the length of each training; 0: no training
};

class Chapter {
 public:
  /// Reads --help, --version, --steps N and --pictures DIR. Ends the program with status 2 after an
  /// error message for any other option.
  Chapter(int argc, char** argv, Options options);

  /// Runs the program's body and returns its exit status: 1 and a line on standard error if the
  /// body throws or standard output cannot be written.
  int run(const std::function<void()>& body) const;

  /// The value of --steps.
  int steps() const { return steps_; }

  /// Prints `name = value` on a line. Facts are what the text quotes: the same in C++ and Python,
  /// on every machine, so never a duration. Throws std::invalid_argument for a second fact of this
  /// name, and for a name that has other characters than a-z, 0-9 and _.
  void fact(const std::string& name, double value);
  /// A fact that is a word, such as a dtype. The text quotes it in code font.
  void fact(const std::string& name, const std::string& value);
  void fact(const std::string& name, const char* value) { fact(name, std::string(value)); }

  /// Writes the SVG to DIR/SLUG-NAME.svg if --pictures DIR was given. The texts show the files that
  /// `--pictures docs/course/images` writes.
  void picture(const std::string& name, const std::string& svg) const;

 private:
  Options options_;
  int steps_ = 0;
  std::string pictures_;
  std::map<std::string, std::string> facts_;
};

}  // namespace course
