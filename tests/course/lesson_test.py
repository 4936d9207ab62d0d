"""tools/lesson: usage, starters, quoted numbers, predictions, exams, cases and scores."""
import json
import pathlib
import subprocess
import sys
import unittest

from fixture import CASE, EXAM, EXERCISE, PREDICTION, PYTHON_PROGRAM, ROOT, TEXT, CourseTest

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/lesson.d"))
import bugs  # noqa: E402
import predict  # noqa: E402
import quotes  # noqa: E402


class Usage(CourseTest):
    def test_wrong_usage(self):
        self.run_lesson(status=2, says="COMMAND")
        self.run_lesson("tset", 1, status=2, says="invalid choice")
        self.run_lesson("test", 7, status=2, says="expected a chapter of 1, got 7")
        self.run_lesson("test", 1, status=2, says="`tools/lesson start 1` writes it")
        self.run_lesson("test", 1, "--blank", "--solution", status=2, says="not allowed with")
        self.run_lesson("predict", 1, status=2, says="has no question")
        self.run_lesson("exam", 1, status=2, says="expected")
        self.run_lesson("list", says="01_small")
        for name in ("1", "01", "small", "01_small"):
            self.run_lesson("solution", name, says="return kFactor * x;")

    def test_output_may_be_closed(self):
        done = subprocess.run(f"'{sys.executable}' '{self.root}/tools/lesson' list | true", shell=True,
                              stderr=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stderr, "")


class Starter(CourseTest):
    def test_start_keeps_your_work(self):
        self.run_lesson("start", 1, says="Wrote lessons/01_small/exercise.cpp")
        path = self.work / "lessons/01_small/exercise.cpp"
        self.assertEqual(path.read_text(), '#include "exercise.h"\n\ndouble times(double x) {\n'
                                           "  return x;  // times 3\n}\n")
        path.write_text("my work")
        self.run_lesson("start", 1, status=1, says=["may be your work", "--force"])
        self.assertEqual(path.read_text(), "my work")
        self.run_lesson("start", 1, "--force")
        self.assertEqual(path.with_name("exercise.cpp.old").read_text(), "my work")

    def test_variants_follow_the_name(self):
        found = set()
        for name in ("Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Frances"):
            self.run_lesson("start", 1, "--lessons", name, "--student", name)
            text = (self.work / name / "01_small/README.md").read_text()
            self.run_lesson("solution", 1, "--student", f" {name.upper()} ")
            found.add(text)
        self.assertGreater(len(found), 1)
        self.assertLessEqual(len(found), 2)
        self.run_lesson("start", 1, "--student", "Grace", "--lessons", "again")
        self.assertEqual((self.work / "again/01_small/README.md").read_text(),
                         (self.work / "Grace/01_small/README.md").read_text())
        # The name is remembered: the right answer of this variant passes without --student.
        factor = (self.work / "again/01_small/README.md").read_text().split()[2].rstrip(".")
        path = self.student(f"double times(double x) {{ return {factor} * x; }}\n")
        self.run_lesson("test", 1, path, "--lessons", "again", says="PASSED")

    def test_markers_must_fit(self):
        for wrong in (EXERCISE.replace("// solution end", ""), EXERCISE.replace("// solution begin", ""),
                      EXERCISE + "// blank: stray\n"):
            self.write(self.exercise / "exercise.cpp", wrong)
            self.run_lesson("start", 1, status=2, says="expected")


class Quotes(unittest.TestCase):
    FACTS = {"stall": "2048", "share": "12.4871", "tiny": "5.9604644775390625e-08", "dtype": "float16", "end": "inf",
             "large": "16777216", "negative": "-6.5"}

    def problems(self, text):
        return quotes.problems(text, self.FACTS, "text.md")

    def test_right_numbers(self):
        for text in ("2048<!--stall-->", "12.5 %<!--share-->", "12 %<!--share-->", "**12.49**<!--share-->",
                     "5.96e-8<!--tiny-->", "2^-24<!--tiny-->", "`float16`<!--dtype-->", "inf<!--end-->",
                     "16,777,216<!--large-->", "2^24<!--large-->", "-6.5<!--negative-->", "\u22126.5<!--negative-->",
                     "6.0 x 10^-8<!--tiny-->", "in 2018<!--given-->", "up to 64 steps"):
            self.assertEqual(self.problems(text), [], text)

    def test_wrong_numbers(self):
        for text in ("2049<!--stall-->", "12.4 %<!--share-->", "12.50 %<!--share-->", "2^-23<!--tiny-->",
                     "`float32`<!--dtype-->", "nan<!--end-->", "6.5<!--negative-->", "6.1e-8<!--tiny-->"):
            self.assertIn("the program", self.problems(text)[0], text)
        self.assertIn("does not print", self.problems("2048<!--stalls-->")[0])
        self.assertIn("expected a number", self.problems("many<!--stall-->")[0])

    def test_numbers_without_a_fact(self):
        for text in ("stalls at 2048.", "0.5 of them", "1,024 bytes", "a share of 12.5 %", "| 2048 |"):
            self.assertEqual(len(self.problems(text)), 1, text)
        for text in ("fp16 and float32", "`2048`", "[2048](x.md)", "## 2048", "```\n2048\n```\n", "    x = 2048\n",
                     "16 bits", "chapter 12", "bf16x3.1x", "![0.1](a-0.1.svg)"):
            self.assertEqual(self.problems(text), [], text)
        self.assertIn("text.md:3:", self.problems("a\n\nb 2048\n")[0])

    def test_output_blocks(self):
        text = "```text\n$ build/cpu/bin/course_x --steps 2\n...\nb = 2\nc = 3\n```\n"
        self.assertEqual(quotes.output_problems(text, "course_x", "a = 1\nb = 2\nc = 3\n", "t"), [])
        self.assertEqual(len(quotes.output_problems(text, "course_x", "c = 3\nb = 2\n", "t")), 1)
        self.assertIn("b = 2", quotes.output_problems(text, "course_x", "b = 22\n", "t")[0])


class Check(CourseTest):
    def test_check_compares_text_and_pictures(self):
        self.add_text()
        self.run_lesson("check", 1, "--language", "c++", says="4 facts, 3 numbers quoted")
        self.add_text(TEXT.replace("2048<", "2049<"))
        self.run_lesson("check", 1, "--language", "c++", status=1, says="the text says 2049, the program stall = 2048")
        self.add_text()
        self.write(self.root / "docs/course/images/01_small-dot.svg", "<svg></svg>")
        self.run_lesson("check", 1, "--language", "c++", status=1, says="differs from what the program draws")
        self.add_text()
        self.write(self.root / "docs/course/images/01_small-old.svg", "<svg/>")
        self.run_lesson("check", 1, "--language", "c++", status=1, says="the program draws no such picture")

    def test_program_must_be_built_and_end_well(self):
        self.write(self.root / "docs/course/01_small.md", TEXT)
        self.run_lesson("check", 1, status=3, says=["is not built", "--target course"])
        self.add_text()
        self.write(self.root / "build/cpu/bin/course_01_small", "#!/bin/sh\necho broken\nexit 4\n")
        self.run_lesson("check", 1, status=1, says=["expected status 0, got 4", "broken"])

    def test_python_is_compared(self):
        self.add_text()
        fake = self.write(self.work / "site/halfgrad.py", "").parent
        python = {"LESSON_PYTHON": sys.executable, "PYTHONPATH": str(fake)}
        self.run_lesson("check", 1, environment=python, says="4 facts")
        program = self.root / "examples/course/python/01_small.py"
        program.write_text(PYTHON_PROGRAM.replace("2048", "2047"))
        self.run_lesson("check", 1, environment=python, status=1, says="the C++ program prints 2048, Python 2047")
        self.run_lesson("check", 1, "--language", "python", environment=python, status=1, says="the text says 2048")
        program.write_text(PYTHON_PROGRAM.replace("stall", "other"))
        self.run_lesson("check", 1, environment=python, status=1, says="which the C++ program does not print")
        program.write_text("print('stall = 2048')\n")
        self.run_lesson("check", 1, environment=python, status=1, says=["--help: expected status 0",
                                                                        "--no-such-option: expected status 2"])


class Predict(CourseTest):
    def setUp(self):
        super().setUp()
        self.add_text()
        self.write(self.exercise / "predict.txt", PREDICTION)

    def test_answers(self):
        self.run_lesson("predict", 1, "--answer", "2050", "--answer", "Float16",
                        says=["Right: stall = 2048", "Because.", "2 of 2 predictions"])
        self.run_lesson("predict", 1, answers="2^11\nfloat32\n", status=1,
                        says=["Right: stall", "The run says otherwise: dtype = float16", "1 of 2"])
        self.run_lesson("predict", 1, answers="many\n", status=2, says="expected a number such as")
        self.run_lesson("predict", 1, answers="1\nfloat61\n", status=2, says="expected an answer of float16, float32")
        self.run_lesson("predict", 1, status=2, says="expected an answer, got none")
        self.run_lesson("predict", 1, "--answer", "3", status=2, says="expected 2 answers")

    def test_answers_within_the_error(self):
        for answer, fact, within, right in [
                ("2048", "2048", "0", True), ("2049", "2048", "0", False), ("2049", "2048", "1", True),
                ("2^-24", "5.960464477539063e-08", "0", True), ("110", "100", "10 %", True),
                ("111", "100", "10 %", False), ("nan", "nan", "0", True), ("0", "nan", "0", False),
                ("inf", "inf", "0", True), ("-inf", "inf", "0", False), ("12 %", "12.3", "0.5", True),
                ("Yes", "yes", "0", True), ("no", "yes", "0", False), ("many", "3", "0", False)]:
            self.assertEqual(predict.is_right({"within": within}, answer, fact), right, (answer, fact, within))
        for fact in ("2048", "-0.5", "0", "nan", "inf", "float16"):
            self.assertFalse(predict.is_right({"within": "10 %"}, predict.wrong_answer(fact), fact), fact)

    def test_malformed_questions(self):
        for wrong, words in [("question: a\n", "expected `fact:`"), ("question: a\nfat: b\n", "expected a line")]:
            self.write(self.exercise / "predict.txt", wrong)
            self.run_lesson("predict", 1, "--answer", "1", status=2, says=words)
        self.write(self.exercise / "predict.txt", "question: a\nfact: none\n")
        self.run_lesson("verify", 1, status=1, says="which the program does not print")


class Exam(CourseTest):
    def setUp(self):
        super().setUp()
        for name, text in EXAM.items():
            self.write(self.exercise / "exam" / name, text)

    def test_exam(self):
        self.run_lesson("exam", 1, "--start", says="Wrote lessons/01_small/exam/test.cpp")
        self.run_lesson("exam", 1, status=1, says=["the right code passes", "0 of 3 bugs found, 3 are needed"])
        self.run_lesson("exam", 1, "--hints", status=1, says=["the code adds two", "the code squares"])
        path = self.work / "lessons/01_small/exam/test.cpp"
        path.write_text('#include "exam.h"\nstd::string test() { return twice(3) == 6 ? "" : "no"; }\n')
        self.run_lesson("exam", 1, says=["PASSED", "3 of 3 bugs found"])
        path.write_text('#include "exam.h"\nstd::string test() { return "always"; }\n')
        self.run_lesson("exam", 1, status=1, says="your test fails on the right code: always")
        path.write_text('#include "exam.h"\n#include <cstdlib>\nstd::string test() { std::exit(0); }\n')
        self.run_lesson("exam", 1, status=1, says="ended the program with status 0")
        path.write_text('#include "exam.h"\nstd::string test() { return 3 }\n')
        self.run_lesson("exam", 1, status=1, says="your file does not compile")

    def test_sources_of_bugs(self):
        path = self.write(self.work / "code.cpp", "a\nb\n// bug x: c\n// bug x: d\n// bug y:\ne\n// why x: Because\n")
        source = bugs.Source(path)
        self.assertEqual(source.text(), "a\nb\ne\n")
        self.assertEqual(source.text("x"), "a\nc\nd\ne\n")
        self.assertEqual(source.text("y"), "a\ne\n")
        self.assertEqual(source.guilty_lines("x"), [2, 3])
        self.assertEqual(source.guilty_lines("y"), [1, 2])
        self.assertEqual(source.why, {"x": "Because"})


class Detective(CourseTest):
    def test_case(self):
        self.write(self.exercise / "detective/case.cpp", CASE)
        self.run_lesson("detective", 1, says=["total", "55", "10", "--line N"])
        self.run_lesson("detective", 1, "--line", 4, status=1, says="Line 4 is innocent.")
        self.run_lesson("detective", 1, "--line", 5, says="Line 5 is guilty. The sum is overwritten.")
        self.run_lesson("detective", 1, "--line", 99, status=2, says="expected a line of case.cpp, 1 to 8")
        self.run_lesson("detective", 1, "--test", status=1, says="NOT YET")
        path = self.work / "lessons/01_small/detective/case.cpp"
        path.write_text(path.read_text().replace("total = i", "total = total + i"))
        self.run_lesson("detective", 1, "--test", says="PASSED: all 1 facts are right.")
        path.write_text("int main() {")
        self.run_lesson("detective", 1, "--test", status=1, says="does not compile")


class Export(CourseTest):
    def test_scores(self):
        self.add_text()
        self.write(self.exercise / "predict.txt", PREDICTION)
        self.run_lesson("export", status=2, says="--student NAME")
        self.run_lesson("start", 1, "--student", "Ada  Lovelace")
        factor = (self.work / "lessons/01_small/README.md").read_text().split()[2].rstrip(".")
        self.run_lesson("predict", 1, "--answer", "2048", "--answer", "float32", status=1)
        self.run_lesson("predict", 1, "--answer", "2048", "--answer", "float16")  # the first answer counts
        score = json.loads(self.run_lesson("export"))
        self.assertEqual((score["student"], score["points"], score["possible"]), ("Ada Lovelace", 0.5, 2))
        self.assertEqual(score["chapters"]["01_small"]["exercise"]["problem"], "not started")
        self.student(f"double times(double x) {{ return {factor} * x; }}\n", "lessons/01_small/exercise.cpp")
        self.run_lesson("export", "--out", "score.json", says="Ada Lovelace: 1.5 of 2 points")
        score = json.loads(pathlib.Path(self.work / "score.json").read_text())
        self.assertEqual(score["chapters"]["01_small"]["exercise"],
                         {"passed": True, "checks": {"small": True, "negative": True}, "problem": ""})
        self.assertEqual(score["chapters"]["01_small"]["predict"]["dtype"],
                         {"first": "float32", "right": False, "tries": 2, "last": "float16", "solved": True})
        self.run_lesson("export", "--out", "no/folder.json", status=1, says="expected to write")


if __name__ == "__main__":
    unittest.main()
