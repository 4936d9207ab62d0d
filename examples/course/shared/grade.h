#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "grade_shrink.h"
#include "grade_text.h"

/// Checks, reports and results of every grader. grade.cpp of an exercise calls the student's
/// functions, which exercise.cpp defines and exercise.h declares, and compares element by element:
///
///     #include "exercise.h"
///     #include "grade.h"
///
///     int main(int argc, char** argv) {
///       grade::Grader grader(argc, argv);
///       grader.each("to_half of simple values", {0.0, 1.0, -2.5}, [](double x) { return
///       to_half(x); },
///                   [](double x) { return rounded_to_half(x); }, {.absolute = 0});
///       grader.vectors("sum", random_vectors(grader.seed()), sum_of, exact_sum, {.relative =
///       1e-6}); grader.yes("empty input", "sum({}) is 0", sum({}) == 0); return grader.finish();
///     }
///
/// The first failing element of a check is reported with its index, the expected and the computed
/// value, the error and the budget, and the smallest input that shows the mistake: `each` searches
/// its inputs for the one nearest to zero, `vectors` removes elements and rounds the others as long
/// as the result stays wrong.
///
/// Exit status: 0 all checks passed, 1 a check failed, 2 wrong options, 3 the student's code threw.
/// `tools/lesson test` believes neither the status nor the output, which a student's code can
/// produce by itself: it reads the file that finish() completes (`--result`, set by the tool).
/// Without --result the same lines go to standard output.
namespace grade {

/// The largest error that passes: |got - expected| <= absolute + relative * |expected|. An inf must
/// be the same inf, and a NaN be a NaN.
struct Budget {
  double absolute = 0;
  double relative = 0;

  double of(double expected) const;
  bool accepts(double expected, double got) const;
  std::string text(double expected) const;
};

class Grader {
 public:
  Grader(int argc, char** argv);

  /// Differs between students (`--student NAME`), and is 0 without a name: for random inputs.
  std::uint64_t seed() const { return seed_; }
  /// The index of the student's entry in "variants" of exercise.json; 0 without a name.
  int variant() const { return variant_; }

  /// Compares student(x) with reference(x) for every x.
  void each(const std::string& check, const std::vector<double>& inputs,
            const std::function<double(double)>& student,
            const std::function<double(double)>& reference, Budget budget);

  /// Compares student(v) with reference(v), element by element, for every v. Put short vectors
  /// first. The students' function must be pure: it is called again while the input is made
  /// smaller.
  using Vector = std::vector<double>;
  void vectors(const std::string& check, const std::vector<Vector>& inputs,
               const std::function<Vector(const Vector&)>& student,
               const std::function<Vector(const Vector&)>& reference, Budget budget);

  /// Compares two arrays that the caller computed. `input` says for which input: "step 7, scale
  /// 65536".
  void same(const std::string& check, const std::string& input, const Vector& expected,
            const Vector& got, Budget budget);

  /// Passes if `passed`; otherwise reports `expected` and `got`, both in words.
  void yes(const std::string& check, const std::string& expected, bool passed,
           const std::string& got = "");

  /// Runs `body`, which calls the student's code in its own way and compares with same() or yes()
  /// under names of their own. An exception fails the check `check`.
  void run(const std::string& check, const std::function<void()>& body);

  /// A line of advice below the next failure: "Did you round to even?".
  void hint(std::string text) { hint_ = std::move(text); }

  /// Ends the result and returns the exit status.
  int finish();

 private:
  void begin(const std::string& check);
  void pass();
  void fail(const std::vector<std::string>& lines);
  void compare(const std::string& input, const Vector& expected, const Vector& got, Budget budget);
  template <class Body>
  void guarded(const std::string& check, const Body& body);

  Result result_;
  std::uint64_t seed_ = 0;
  int variant_ = 0;
  std::string hint_;
  int failures_ = 0;
  int exceptions_ = 0;
  bool open_ = false;  // a check has begun, and neither passed nor failed
};

}  // namespace grade

#include "grade_checks.h"
