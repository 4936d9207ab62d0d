"""Questions that are answered before the program runs, and compared with the facts that it prints."""
import math
import re
import shlex
import sys

import facts
import records
from chapters import LessonError
from quotes import value_of

KEYS = {"question", "fact", "choices", "within", "run", "after"}


def read(chapter):
    """The questions of predict.txt: a list of dictionaries."""
    path = chapter.folder / "predict.txt"
    if not path.exists():
        raise LessonError(f"chapter {chapter.number} has no question: expected {path}")
    questions = []
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip()):
        question, key = {}, None
        for line in block.split("\n"):
            if line.startswith("#"):
                continue
            if line.startswith(" ") and key:
                question[key] += " " + line.strip()
                continue
            key, colon, text = line.partition(":")
            if not colon or key not in KEYS:
                raise LessonError(f"{path}: expected a line `KEY: TEXT` with {', '.join(sorted(KEYS))}, got {line}")
            question[key] = text.strip()
        for needed in ("question", "fact"):
            if needed not in question:
                raise LessonError(f"{path}: expected `{needed}:` in the question that begins with {block[:50]}")
        questions.append(question)
    return questions


def _number(text):
    try:
        return value_of(text.strip().rstrip("%").strip())[0]
    except ValueError:
        return None


def is_right(question, answer, fact):
    """Whether the answer is the fact, within the error that the question allows."""
    value, true = _number(answer), _number(fact)
    if true is None:
        return answer.strip().casefold() == fact.strip().casefold()
    if value is None:
        return False
    if not math.isfinite(true):
        return str(value) == str(true)
    within = question.get("within", "0")
    allowed = _number(within)
    if within.endswith("%"):
        allowed = allowed / 100 * abs(true)
    return abs(value - true) <= allowed + 1e-12 * abs(true)


def wrong_answer(fact):
    """An answer that no question about this fact may accept."""
    true = _number(fact)
    if true is None:
        return "none of these"
    return str(2 * true + 1) if math.isfinite(true) else "0"


def _check_answer(question, answer):
    """Throws if an answer cannot be one."""
    choices = [choice.strip() for choice in question.get("choices", "").split("|") if choice.strip()]
    if choices and answer.strip().casefold() not in [choice.casefold() for choice in choices]:
        raise LessonError(f"expected an answer of {', '.join(choices)}, got {answer}")
    if not choices and _number(answer) is None:
        raise LessonError(f"expected a number such as 2048, 1.5e-3 or 2^-24, got {answer}")


def ask(chapter, build, lessons, answers):
    """Asks, runs the program, and compares. `answers` stand for the keyboard. Returns 0 if all are right."""
    questions = read(chapter)
    if answers and len(answers) != len(questions):
        raise LessonError(f"expected {len(questions)} answers (--answer X for each question), got {len(answers)}")
    build.program(chapter)  # before the questions: it may be missing
    wrong, outputs = 0, {}
    for i, question in enumerate(questions):
        print(question["question"])
        if question.get("choices"):
            print(f"  ({question['choices']})")
        if answers:
            answer = answers[i]
            print(f"> {answer}")
        else:
            if not sys.stdin.isatty() and not sys.stdin.readable():
                raise LessonError("expected a terminal; in a script give --answer X")
            try:
                answer = input("> ")
            except EOFError:
                raise LessonError("expected an answer, got none; in a script give --answer X") from None
        _check_answer(question, answer)
        run = question.get("run", "")
        if run not in outputs:
            outputs[run] = facts.read(facts.run_program(chapter, build, *shlex.split(run)))
        if question["fact"] not in outputs[run]:
            raise LessonError(f"the program does not print the fact {question['fact']} that predict.txt asks for", 3)
        fact = outputs[run][question["fact"]]
        right = is_right(question, answer, fact)
        wrong += not right
        records.add(lessons, chapter, f"predict/{question['fact']}", answer, right)
        print(("Right: " if right else "The run says otherwise: ") + f"{question['fact']} = {fact}")
        if question.get("after"):
            print(f"  {question['after']}")
        print()
    print(f"{len(questions) - wrong} of {len(questions)} predictions were right.")
    return 1 if wrong else 0


def verify(chapter, build):
    """For CI: each question's fact is printed, is an answer that passes, and a different one fails."""
    for question in read(chapter):
        output = facts.read(facts.run_program(chapter, build, *shlex.split(question.get("run", ""))))
        fact = output.get(question["fact"])
        if fact is None:
            print(f"FAIL  predict.txt asks for {question['fact']}, which the program does not print")
            return 1
        _check_answer(question, fact)
        other = wrong_answer(fact)
        if not is_right(question, fact, fact) or is_right(question, other, fact):
            print(f"FAIL  predict.txt: {question['fact']} = {fact} must pass, and {other} must not")
            return 1
    return 0
