"""Names Python's types and dtype in full in a stub whose class Tensor has members of these names."""

import pathlib
import re
import sys

ALIASES = "import builtins\n"


def qualified(line: str) -> str:
    """Rewrites the annotations of one line of a signature."""
    if not re.match(r"\s*def |\s+\w+: ", line):
        return line
    line = re.sub(r"(?<=[ \[])(?<!def )(bool|int|float)(?=$|[ ,\])|:\n])", r"builtins.\1", line)
    return re.sub(r"(?<=: )(dtype|device)(?=[ ,)|=])|(?<=-> )(dtype|device)(?=:)", r"_\1\2", line)


def main() -> None:
    path = pathlib.Path(sys.argv[1])
    text = path.read_text()
    if ALIASES in text:
        return
    head, rest = text.split("class Tensor:", 1)
    rest = "".join(qualified(line) for line in rest.splitlines(keepends=True))
    head = head.replace("from collections", ALIASES + "from collections", 1)
    text = f"{head}_dtype = dtype\n_device = device\n\nclass Tensor:{rest}"
    # Comparisons of tensors return tensors, which mypy refuses without this comment.
    text = re.sub(r"( +@overload)(?=\n +def __(eq|ne)__)", r"\1  # type: ignore[override]", text, 0)
    path.write_text(re.sub(r"( +def __eq__\(self, arg: device.*)", r"\1  # type: ignore[override]", text))


main()
