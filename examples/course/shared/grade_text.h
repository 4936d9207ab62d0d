#pragma once

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

/// How a grader writes: values, vectors, and the file of results that tools/lesson reads.
namespace grade {

/// The shortest text that reads back as the same double.
inline std::string shown(double x) {
  if (std::isnan(x)) return "nan";
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, x);
  return std::string(text, end.ptr);
}

/// A vector as {1, 2, 3}; a long one without its middle.
inline std::string shown(const std::vector<double>& v) {
  constexpr std::size_t kEnds = 6;
  std::string text = "{";
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (i == kEnds && v.size() > 2 * kEnds) {
      text += ", ... (" + std::to_string(v.size()) + " elements)";
      i = v.size() - kEnds;
    }
    text += (i == 0 ? "" : ", ") + shown(v[i]);
  }
  return text + "}";
}

inline std::vector<double> widened(const std::vector<float>& v) { return {v.begin(), v.end()}; }

/// The input that the student's code works on, for the report of a crash. Plain characters,
/// because a signal handler may not allocate.
inline char current_input[400] = "";
inline int result_file = STDOUT_FILENO;

/// Writes one line of the result at once, so that it survives a crash.
inline void write_line(const char* kind, const char* text) {
  char line[900];
  const int length = std::snprintf(line, sizeof line, "%s\t%s\n", kind, text);
  const auto size = std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof line - 1);
  line[size - 1] = '\n';
  if (::write(result_file, line, size) < 0) std::perror("grade: the result cannot be written");
}

extern "C" inline void grade_report_crash(int signal) {
  const auto put = [](const char* text, std::size_t size) {
    if (::write(result_file, text, size) < 0) ::_exit(3);
  };
  put("crash\t", 6);
  put(current_input, std::strlen(current_input));
  put("\n", 1);
  ::_exit(128 + signal);
}

/// The lines of the result: `check NAME`, then `pass` or `fail` and lines `say TEXT`, at last
/// `done`.
class Result {
 public:
  void check(const std::string& name) {
    remember("");
    write_line("check", name.c_str());
  }
  void pass() { write_line("pass", ""); }
  void fail(const std::vector<std::string>& lines) {
    write_line("fail", "");
    for (const std::string& line : lines) write_line("say", line.c_str());
  }
  void done() { write_line("done", ""); }

  static void remember(const std::string& input) {
    std::snprintf(current_input, sizeof current_input, "%s", input.c_str());
  }
};

/// Reports memory errors, divisions by zero and abort() with the input. On a stack of its own, for
/// endless recursion.
inline void report_crashes() {
  static char stack[65536];
  stack_t other = {};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  ::sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_handler = grade_report_crash;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace grade
