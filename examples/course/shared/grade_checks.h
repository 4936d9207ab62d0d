#pragma once

#include <fcntl.h>

#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "grade.h"

/// The members of Grader.
namespace grade {

inline double Budget::of(double expected) const {
  return absolute + (relative == 0 ? 0 : relative * std::fabs(expected));
}

inline bool Budget::accepts(double expected, double got) const {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return expected == got;
  // With a budget of 0 the sign of zero counts, too.
  if (of(expected) == 0) return expected == got && std::signbit(expected) == std::signbit(got);
  return std::fabs(got - expected) <= of(expected);
}

inline std::string Budget::text(double expected) const {
  if (of(expected) == 0) return "0 (exactly the expected value)";
  std::string text = shown(of(expected));
  if (relative > 0) {
    text += " (";
    if (absolute > 0) text += shown(absolute) + " + ";
    text += shown(relative) + " x |expected|)";
  }
  return text;
}

inline Grader::Grader(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (i + 1 < argc && option == "--result") {
      result_file = ::open(argv[++i], O_WRONLY | O_CREAT | O_TRUNC, 0644);
      if (result_file < 0) {
        std::perror("grade: --result");
        std::exit(2);
      }
    } else if (i + 1 < argc && option == "--seed") {
      seed_ = std::strtoull(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && option == "--variant") {
      variant_ = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "grade: expected --result FILE, --seed N or --variant I, got %s\n",
                   argv[i]);
      std::exit(2);
    }
  }
  report_crashes();
}

inline void Grader::begin(const std::string& check) {
  result_.check(check);
  open_ = true;
}

inline void Grader::pass() {
  hint_.clear();
  open_ = false;
  result_.pass();
}

inline void Grader::fail(const std::vector<std::string>& lines) {
  ++failures_;
  open_ = false;
  std::vector<std::string> all = lines;
  if (!hint_.empty()) all.push_back("hint      " + hint_);
  hint_.clear();
  result_.fail(all);
}

// Runs one check and reports an exception as its failure.
template <class Body>
void Grader::guarded(const std::string& check, const Body& body) {
  begin(check);
  try {
    body();
  } catch (const std::exception& error) {
    ++exceptions_;
    if (!open_) begin(check);
    fail({std::string("your code threw an exception: ") + error.what(),
          std::string("input     ") + current_input});
  } catch (...) {
    ++exceptions_;
    if (!open_) begin(check);
    fail({"your code threw an exception that is no std::exception"});
  }
}

inline void Grader::compare(const std::string& input, const Vector& expected, const Vector& got,
                            Budget budget) {
  if (expected.size() != got.size()) {
    fail({"expected  " + std::to_string(expected.size()) + " elements",
          "got       " + std::to_string(got.size()) + " elements", "input     " + input});
    return;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (budget.accepts(expected[i], got[i])) continue;
    fail({"element   [" + std::to_string(i) + "] of " + std::to_string(expected.size()),
          "expected  " + shown(expected[i]), "got       " + shown(got[i]),
          "error     " + shown(std::fabs(got[i] - expected[i])),
          "budget    " + budget.text(expected[i]), "input     " + input});
    return;
  }
  pass();
}

inline void Grader::each(const std::string& check, const std::vector<double>& inputs,
                         const std::function<double(double)>& student,
                         const std::function<double(double)>& reference, Budget budget) {
  guarded(check, [&] {
    std::size_t wrong = 0;
    std::optional<std::size_t> first;
    std::optional<std::size_t> smallest;
    std::vector<double> got(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Result::remember(shown(inputs[i]));
      got[i] = student(inputs[i]);
      if (budget.accepts(reference(inputs[i]), got[i])) continue;
      ++wrong;
      if (!first) first = i;
      if (!smallest || std::fabs(inputs[i]) < std::fabs(inputs[*smallest])) smallest = i;
    }
    if (!first) {
      pass();
      return;
    }
    const double expected = reference(inputs[*first]);
    std::vector<std::string> lines = {"element   [" + std::to_string(*first) + "] of " +
                                          std::to_string(inputs.size()) + ", " +
                                          std::to_string(wrong) + " are wrong",
                                      "input     " + shown(inputs[*first]),
                                      "expected  " + shown(expected),
                                      "got       " + shown(got[*first]),
                                      "error     " + shown(std::fabs(got[*first] - expected)),
                                      "budget    " + budget.text(expected)};
    const double x = inputs[*smallest];
    lines.push_back("smallest input that shows it: " + shown(x) + ", expected " +
                    shown(reference(x)) + ", got " + shown(got[*smallest]));
    fail(lines);
  });
}

inline void Grader::vectors(const std::string& check, const std::vector<Vector>& inputs,
                            const std::function<Vector(const Vector&)>& student,
                            const std::function<Vector(const Vector&)>& reference, Budget budget) {
  const auto is_wrong = [&](const Vector& v) {
    Result::remember(shown(v));
    const Vector expected = reference(v);
    const Vector got = student(v);
    if (expected.size() != got.size()) return true;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!budget.accepts(expected[i], got[i])) return true;
    }
    return false;
  };
  guarded(check, [&] {
    for (const Vector& input : inputs) {
      if (!is_wrong(input)) continue;
      const Vector small = smallest_wrong(input, is_wrong);
      compare(shown(small) + " (the smallest that shows it" +
                  (small == input ? ")" : ", from one of " + std::to_string(input.size()) + ")"),
              reference(small), student(small), budget);
      return;
    }
    pass();
  });
}

inline void Grader::same(const std::string& check, const std::string& input, const Vector& expected,
                         const Vector& got, Budget budget) {
  begin(check);
  compare(input, expected, got, budget);
}

inline void Grader::yes(const std::string& check, const std::string& expected, bool passed,
                        const std::string& got) {
  begin(check);
  if (passed) {
    pass();
  } else if (got.empty()) {
    fail({"expected  " + expected});
  } else {
    fail({"expected  " + expected, "got       " + got});
  }
}

inline void Grader::run(const std::string& check, const std::function<void()>& body) {
  guarded(check, [&] {
    body();
    if (open_) pass();
  });
}

inline int Grader::finish() {
  result_.done();
  return exceptions_ > 0 ? 3 : failures_ > 0 ? 1 : 0;
}

}  // namespace grade
