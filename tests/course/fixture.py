"""A small course with one chapter in a temporary folder, with its own copy of tools/lesson, for the tests beside it."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

HEADER = "#pragma once\nconstexpr int kFactor = {{FACTOR}};\n/// Returns x times kFactor.\ndouble times(double x);\n"
EXERCISE = """#include "exercise.h"

double times(double x) {
  // solution begin
  // blank: return x;  // times {{FACTOR}}
  return kFactor * x;
  // solution end
}
"""
GRADER = """#include "exercise.h"
#include "grade.h"
int main(int argc, char** argv) {
  grade::Grader grader(argc, argv);
  const auto right = [](double x) { return kFactor * x; };
  grader.each("small", {1, 2, 3}, times, right, {});
  grader.hint("mind the sign");
  grader.each("negative", {-4, -1, -2}, times, right, {.absolute = 0.5});
  return grader.finish();
}
"""
EXAM = {
    "exam.h": "#pragma once\n#include <string>\nint twice(int x);\nstd::string test();\n",
    "code.cpp": '#include "exam.h"\nint twice(int x) {\n  return 2 * x;\n  // bug adds_two: return x + 2;\n'
                "  // bug squares: return x * x;\n  // bug crashes: return *(volatile int*)0 + x;\n}\n",
    "test.cpp": '#include "exam.h"\n// solution begin\n// blank: std::string test() { return ""; }\n'
                'std::string test() { return twice(2) == 4 && twice(3) == 6 ? "" : "wrong"; }\n// solution end\n',
}
CASE = """#include <cstdio>
int main() {
  int total = 0;
  for (int i = 1; i <= 10; ++i) {
    total += i;
    // bug forgets: total = i;
    // why forgets: The sum is overwritten.
  }
  std::printf("total = %d\\n", total);
}
"""
PROGRAM = """#!/bin/sh
if [ "$1" = --no-such-option ]; then exit 2; fi
if [ "$1" = --help ]; then echo '--pictures DIR'; exit 0; fi
if [ "$1" = --pictures ]; then printf '<svg/>' > "$2/01_small-dot.svg"; fi
echo 'stall = 2048'; echo 'share = 12.4871'; echo 'dtype = float16'; echo 'tiny = 5.9604644775390625e-08'
"""
PYTHON_PROGRAM = """import sys
if sys.argv[1:] == ["--no-such-option"]:
    sys.exit(2)
print("stall = 2048" if sys.argv[1:2] == ["--pictures"] else "--pictures DIR")
"""
TEXT = """# 1. A small chapter

![a dot](images/01_small-dot.svg) stalls at 2048<!--stall-->, 12.5 %<!--share-->, `float16`<!--dtype-->.
"""
PREDICTION = """question: Where does it stall?
fact: stall
within: 1 %
after: Because.

question: Which dtype?
fact: dtype
choices: float16 | float32
"""


class CourseTest(unittest.TestCase):
    """Gives each test a course, a folder for the student, and run()."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="course-test-")
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name) / "halfgrad"
        self.work = pathlib.Path(holder.name) / "work"
        self.work.mkdir()
        for part in ("tools/lesson.d", "examples/course/shared"):
            shutil.copytree(ROOT / part, self.root / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "tools/lesson", self.root / "tools/lesson")
        self.exercise = self.root / "examples/course/exercises/01_small"
        self.write(self.exercise / "exercise.h", HEADER)
        self.write(self.exercise / "exercise.cpp", EXERCISE)
        self.write(self.exercise / "grade.cpp", GRADER)
        self.write(self.exercise / "README.md", "Multiply by {{FACTOR}}.\n")
        self.set(limit_s=2)

    def set(self, **settings):
        """Writes exercise.json."""
        variants = [{"FACTOR": factor} for factor in (3, 5)]
        self.write(self.exercise / "exercise.json", json.dumps({"variants": variants, **settings}))

    def add_text(self, text=TEXT):
        self.write(self.root / "docs/course/01_small.md", text)
        self.write(self.root / "docs/course/images/01_small-dot.svg", "<svg/>")
        self.write(self.root / "examples/course/python/01_small.py", PYTHON_PROGRAM)
        self.write(self.root / "build/cpu/bin/course_01_small", PROGRAM).chmod(0o755)

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def student(self, body, name="mine.cpp"):
        """Writes a student's file: the header, then `body`."""
        return self.write(self.work / name, '#include "exercise.h"\n' + body)

    def run_lesson(self, *arguments, status=0, says=(), environment=None, answers=""):
        """Runs tools/lesson and checks its status and that it says all of `says`. Returns the output."""
        done = subprocess.run([sys.executable, self.root / "tools/lesson", *map(str, arguments)], cwd=self.work,
                              env={**os.environ, **(environment or {})}, input=answers, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        self.assertEqual(done.returncode, status, f"{arguments} ended with {done.returncode}:\n{done.stdout}")
        self.assertNotIn("Traceback", done.stdout)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, done.stdout)
        return done.stdout
