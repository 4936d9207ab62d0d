"""Runs mnist_mlp's underflow task: stuck with the scale 1, and as good as fp32 with the recommended scale."""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

program = sys.argv[1]


def run(*options):
    return subprocess.run([program, "--task", "underflow", "--threads", "2", *options], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def trained(*options):
    """Returns the program's output and the only training of its results."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "results.json")
        finished = run("--json", str(file), *options)
        assert finished.returncode == 0, finished.stdout
        training, = json.loads(file.read_text())["underflow"]
    return finished.stdout, training


def is_refused(message, *options):
    finished = run(*options)
    assert finished.returncode == 2 and message in finished.stdout, finished.stdout


_, fp32 = trained("--precision", "fp32")
_, stuck = trained("--precision", "fp16", "--init-scale", "1")
output, scaled = trained("--precision", "fp16", "--init-scale", "recommended")

assert fp32["test_score"] > 0.9, fp32
assert stuck["init_scale"] == stuck["final_scale"] == 1, stuck
assert stuck["moved_weights"] == 0 and stuck["test_score"] < 0, stuck
assert stuck["flushed_gradients_first_epoch"] == stuck["flushed_gradients_last_epoch"] == 1, stuck

exponent = math.log2(scaled["init_scale"])
assert exponent == int(exponent) and 20 < exponent < 60, scaled
assert f"allow the scale 2^{exponent:g}" in output, output
assert abs(scaled["test_score"] - fp32["test_score"]) < 0.005, (scaled, fp32)
assert abs(scaled["final_loss"] / fp32["final_loss"] - 1) < 0.05, (scaled, fp32)
assert scaled["flushed_gradients_first_epoch"] < 0.001, scaled

# Finding the scale trains nothing: the same scale as a number gives the same training.
_, given = trained("--precision", "fp16", "--init-scale", str(scaled["init_scale"]))
assert given["epochs"] == scaled["epochs"], (given, scaled)

is_refused("expected a finite number above 0 or recommended, got recomended; did you mean recommended?",
           "--init-scale", "recomended")
for text in ("0", "-1", "inf", "nan", "2x"):
    is_refused("expected a finite number above 0 or recommended, got " + text, "--init-scale=" + text)
is_refused("got bf16, which has no GradScaler", "--precision", "bf16", "--init-scale", "8")
