"""Runs paper_figures and compares every value that docs/paper.md quotes with what it prints.

    python3 paper.py PROGRAM SOURCE_DIR

A quoted value may differ by 2 % (a standard deviation by 0.5), or by half a unit of its last digit: trainings end a
little differently where sums round differently.
"""
import pathlib
import re
import subprocess
import sys

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(source / "tools" / "lesson.d"))
sys.dont_write_bytecode = True
import quotes  # noqa: E402

output = subprocess.run([program], capture_output=True, text=True, check=True).stdout
facts = dict(re.findall(r"^([a-z0-9_]+) = (\S+)$", output, re.MULTILINE))
text = (source / "docs" / "paper.md").read_text(encoding="utf-8")

problems = []
accepted = dict(facts)
for quote in quotes.QUOTE.finditer(text):
    name, number = quote["fact"], quote["number"]
    if name not in facts or number is None:
        continue
    quoted, half_a_unit = quotes.value_of(number)
    true = float(facts[name])
    allowed = 0.5 if name.endswith("_deviation") else 0.02 * abs(true)
    if abs(quoted - true) <= max(half_a_unit, allowed):
        accepted[name] = number
    else:
        problems.append(f"docs/paper.md says {number}, the program {name} = {facts[name]}")
if not problems:  # values without a fact, and facts that the program does not print
    problems = [line for line in quotes.problems(text, accepted, "docs/paper.md") if "the program" not in line
                or "does not print" in line]

unused = facts.keys() - {quote["fact"] for quote in quotes.QUOTE.finditer(text)}
for name in sorted(unused):
    if not name.endswith("_within_noise"):
        problems.append(f"docs/paper.md: expected {name} = {facts[name]} in the text")
for name in ("digits", "deep_digits", "membrane"):
    if facts.get(f"{name}_within_noise") != "1":
        problems.append(f"{name}: expected fp32 and mixed precision within noise, got another difference:\n{output}")
print("\n".join(problems) or f"docs/paper.md: {len(facts)} facts agree")
sys.exit(1 if problems else 0)
