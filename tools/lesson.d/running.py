"""Running other programs: time limit, output limit, and what a signal means."""
import os
import resource
import signal
import subprocess
import tempfile

MOST_OUTPUT = 8 << 20  # bytes
MOST_MEMORY = 4 << 30  # bytes; the sanitizers need more address space than that


class Outcome:
    """How a program ended: its status, its output, and whether it ran out of time."""

    def __init__(self, status, output, timed_out):
        self.status = status
        self.output = output
        self.timed_out = timed_out

    @property
    def signal(self):
        """The signal that ended the program, also if a handler turned it into a status above 128."""
        number = -self.status if self.status < 0 else self.status - 128
        return signal.Signals(number).name if number in set(signal.Signals) else ""


def printable(text):
    """The text without characters that change a terminal, and with lines cut at 160 characters."""
    text = "".join(letter if letter.isprintable() or letter in "\n\t" else "?" for letter in text[:100000])
    return "\n".join(line if len(line) <= 160 else line[:157] + "..." for line in text.split("\n"))


def _limits(memory, output):
    def apply():
        if output:
            resource.setrlimit(resource.RLIMIT_FSIZE, (output, output))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    return apply


def run(command, limit_s, environment=None, memory=MOST_MEMORY, most_output=MOST_OUTPUT,
        folder=None):
    """Runs a program and reads its standard output and error together. Kills what it started at the limit."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True, cwd=folder,
                                   preexec_fn=_limits(memory, most_output),
                                   env={**os.environ, **(environment or {})})
        timed_out = False
        try:
            status = process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # also whatever the program has left running
            except ProcessLookupError:
                pass
        status = process.wait()
        output.seek(0)
        return Outcome(status, output.read().decode("utf-8", "replace"), timed_out)
