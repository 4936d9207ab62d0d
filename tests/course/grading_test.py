"""tools/lesson with good, wrong and hostile files of students: a clear message for each, and a result that stands."""
import unittest

from fixture import EXERCISE, CourseTest


class Grading(CourseTest):
    def test_right_file_passes(self):
        path = self.student("double times(double x) { return x + x + x; }\n")
        self.run_lesson("test", 1, path, says=["pass  small", "pass  negative", "PASSED: chapter 1, 2 checks"])

    def test_wrong_file_is_told_why(self):
        path = self.student("double times(double x) { return x < 0 ? x : 3 * x; }\n")
        self.run_lesson("test", "small", path, status=1, says=[
            "pass  small", "FAIL  negative", "element   [0] of 3, 3 are wrong", "input     -4", "expected  -12",
            "got       -4", "error     8", "budget    0.5",
            "smallest input that shows it: -1, expected -3, got -1", "hint      mind the sign", "NOT YET",
            "1 of 2 checks passed"])

    def test_budget_is_kept(self):
        path = self.student("double times(double x) { return 3 * x + (x < 0 ? 0.4 : 0); }\n")
        self.run_lesson("test", 1, path)
        path = self.student("double times(double x) { return 3 * x + (x < 0 ? 0.6 : 0); }\n")
        self.run_lesson("test", 1, path, status=1, says="FAIL  negative")
        path = self.student("double times(double x) { return 3 * x + 1e-15; }\n")
        self.run_lesson("test", 1, path, status=1, says="budget    0 (exactly the expected value)")
        path = self.student("double times(double) { return 0.0 / 0.0; }\n")
        self.run_lesson("test", 1, path, status=1, says="got       nan")

    def test_file_that_does_not_compile(self):
        path = self.student("double times(double x) { return 3 * y; }\n")
        output = self.run_lesson("test", 1, path, status=1, says=["your file does not compile", "mine.cpp:2:"])
        self.assertNotIn("/lesson-", output)

    def test_missing_function_and_own_main(self):
        self.run_lesson("test", 1, self.student(""), status=1, says="your file lacks: times(double)")
        path = self.student("double times(double x) { return 3 * x; }\nint main() {}\n")
        self.run_lesson("test", 1, path, status=1, says="your file has a main()")

    def test_endless_loop_ends(self):
        path = self.student("double times(double x) { for (volatile bool goes_on = true; goes_on;) {} return x; }\n")
        self.run_lesson("test", 1, path, status=1, says=["did not end within 2 s", 'in the check "small"'])

    def test_crashes_are_explained(self):
        for body, words in [("return *static_cast<volatile double*>(nullptr) + x;", "SIGSEGV"),
                            ("volatile int zero = 0; return 100 % zero + x;", "SIGFPE"),
                            ("std::vector<double> v(1, x); volatile int i = 7; return v[i];", "SIGABRT"),
                            ("volatile double y = x; return times(y + 1) + y;", "SIGSEGV")]:
            path = self.student(f"#include <vector>\ndouble times(double x) {{ {body} }}\n")
            self.run_lesson("test", 1, path, status=1, says=[words, 'in the check "small", for the input 1', "NOT YET"])

    def test_exceptions_fail_their_check_alone(self):
        path = self.student("#include <stdexcept>\ndouble times(double x) {\n"
                            "  if (x < 0) throw std::runtime_error(\"no sign yet\");\n  return 3 * x;\n}\n")
        self.run_lesson("test", 1, path, status=1, says=["pass  small", "your code threw an exception: no sign yet",
                                                         "input     -4"])

    def test_exit_does_not_pass(self):
        for end in ("std::exit(0)", "std::_Exit(0)", "std::quick_exit(0)"):
            path = self.student("#include <cstdio>\n#include <cstdlib>\ndouble times(double) {\n"
                                f'  std::puts("PASSED: chapter 1, 2 checks.\\ndone");\n  {end};\n}}\n')
            self.run_lesson("test", 1, path, status=1, says=["ended the program with status 0", "NOT YET"])

    def test_exit_before_main_does_not_pass(self):
        path = self.student("#include <cstdlib>\ndouble times(double x) { return x; }\n"
                            "const int early = (std::exit(0), 1);\n")
        self.run_lesson("test", 1, path, status=1, says="ended the program with status 0")

    def test_garbage_is_cut(self):
        path = self.student("#include <cstdio>\ndouble times(double x) {\n"
                            '  for (int i = 0; i < 60; ++i) std::puts("\\033[31m garbage \\001");\n'
                            "  return 3 * x;\n}\n")
        output = self.run_lesson("test", 1, path, says=["PASSED", "?[31m garbage ?", "more lines"])
        self.assertNotIn("\033", output)
        path = self.student("#include <cstdio>\ndouble times(double) { for (;;) std::puts(\"more\"); }\n")
        self.run_lesson("test", 1, path, status=1, says="prints more than 8 MiB")

    def test_memory_is_limited(self):
        path = self.student("#include <vector>\ndouble times(double x) {\n"
                            "  std::vector<double> v(1ull << 34, x);\n  return v[5];\n}\n")
        self.run_lesson("test", 1, path, status=1, says="your code threw an exception: std::bad_alloc")

    def test_header_of_the_student_is_not_used(self):
        self.run_lesson("start", 1)
        mine = self.work / "lessons/01_small"
        (mine / "exercise.h").write_text("constexpr int kFactor = 1;\ndouble times(double x);\n")
        (mine / "exercise.cpp").write_text('#include "exercise.h"\ndouble times(double x) { return kFactor * x; }\n')
        self.run_lesson("test", 1, says="PASSED")

    def test_missing_compiler_and_build(self):
        path = self.student("double times(double x) { return 3 * x; }\n")
        self.run_lesson("test", 1, path, status=3, environment={"CXX": "no-such-compiler"},
                        says=["expected a C++20 compiler", "no-such-compiler"])
        self.student("#include <halfgrad/core/dtype.h>\ndouble times(double x) { return 3 * x; }\n")
        self.run_lesson("test", 1, path, status=3, says=["uses halfgrad", "cmake --build"])
        self.set(needs={"bin/tool": "tool"})
        self.run_lesson("test", 1, path, status=3, says="--target tool")
        self.set(tools=["no-such-tool"])
        self.run_lesson("test", 1, path, status=3, says="no-such-tool")
        self.run_lesson("test", 1, "--solution", says="SKIPPED: no no-such-tool")

    def test_broken_grader_is_not_the_students_fault(self):
        path = self.student("double times(double x) { return 3 * x; }\n")
        self.write(self.exercise / "grade.cpp", "int main( {\n")
        self.run_lesson("test", 1, path, status=3, says="not your fault")

    def test_blank_and_solution_for_ci(self):
        self.run_lesson("test", 1, "--blank", says="compiles and fails 2 of 2 checks")
        output = self.run_lesson("test", 1, "--solution", says="PASSED")
        self.assertEqual(output.count("PASSED"), 2, "one for each variant")
        self.write(self.exercise / "exercise.cpp", EXERCISE.replace("blank: return x;", "blank: return kFactor * x;"))
        self.run_lesson("test", 1, "--blank", status=1, says="expected a blank that compiles, ends, and fails")
        self.write(self.exercise / "exercise.cpp", EXERCISE.replace("blank: return x;", "blank: return"))
        self.run_lesson("test", 1, "--blank", status=1, says="expected a blank that compiles")
        self.write(self.exercise / "exercise.cpp", EXERCISE.replace("kFactor * x", "3 * x"))
        self.run_lesson("test", 1, "--solution", status=1, says="the solution (variant 1)")


if __name__ == "__main__":
    unittest.main()
