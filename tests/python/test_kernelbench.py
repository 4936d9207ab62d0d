"""halfgrad.checking.kernelbench: candidates for the tasks in tests/python/tasks, right and wrong. Needs PyTorch."""

import json
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("torch")

from halfgrad.checking.kernelbench import TaskError, check_task  # noqa: E402

TASKS = pathlib.Path(__file__).parent / "tasks"
QUICK = {"shrink": False, "stop_at_first": True, "repeat": 1}
RELU = "y = torch.relu(x)\n"
NORM = "mean = x.mean(1, keepdim=True)\n"

RIGHT = {
    "relu": ["return torch.clamp(x, min=0)"],
    "softmax": ["e = torch.exp(x - x.amax(1, keepdim=True))\nreturn e / e.sum(1, keepdim=True)",
                "return torch.exp(torch.log_softmax(x, 1))"],
    "layer_norm": [NORM + "d = x - mean\nvar = (d * d).mean(1, keepdim=True)\n"
                   "return d / torch.sqrt(var + self.norm.eps) * self.norm.weight + self.norm.bias"],
    "linear_gelu": ["return torch.nn.functional.gelu(torch.addmm(self.linear.bias, x, self.linear.weight.t()))"],
    "cross_entropy": ["m = logits.amax(1, keepdim=True)\n"
                      "sums = m[:, 0] + torch.log(torch.exp(logits - m).sum(1))\n"
                      "return (sums - logits.gather(1, classes[:, None])[:, 0]).mean()"],
    "mean": ["return x.sum(1) / x.shape[1]"],
    "conv": ["y = self.conv(x)\nmean = y.mean((0, 2, 3), keepdim=True)\n"
             "var = (y - mean).square().mean((0, 2, 3), keepdim=True)\n"
             "y = (y - mean) * torch.rsqrt(var + 1e-5) * self.norm.weight[:, None, None]\n"
             "return self.pool(y + self.norm.bias[:, None, None]).relu()"],
    "attention": ["b, n, width = x.shape\n"
                  "q, k, v = (y.view(b, n, self.heads, -1).transpose(1, 2) for y in self.project(x).chunk(3, 2))\n"
                  "y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)\n"
                  "return y.transpose(1, 2).reshape(b, n, width)"],
    "cumulative": ["return torch.cumsum(x, 1)",
                   "return torch.stack([x[:, :i + 1].sum(1) for i in range(x.shape[1])], 1)"],
    "product": ["y = x[:, 0]\nfor i in range(1, x.shape[1]):\n    y = y * x[:, i]\nreturn y"],
    "places": ["return x.argmax(1)"],
    "einsum": ["return x @ w", "return (w.t() @ x.transpose(1, 2)).transpose(1, 2)"],
    "transposed": ["return torch.cat([torch.nn.functional.conv_transpose2d(\n"
                   "    a, w, None, 2, 1, 1) for a, w in zip(x.chunk(2, 1), self.conv.weight.chunk(2, 0))], 1)"
                   " + self.conv.bias[:, None, None]"],
}

WRONG = {
    "relu": ["return x.clone()", RELU + "y[:, 64:] = x[:, 64:]\nreturn y", "return torch.zeros_like(x)",
             "return torch.relu(x.bfloat16()).float()"],
    "softmax": ["return torch.zeros_like(x)", "e = torch.exp(x)\nreturn e / e.sum(1, keepdim=True)",
                "return torch.softmax(x, 0)", "return torch.full_like(x, 1 / x.shape[1])",
                "return torch.softmax(torch.nn.functional.pad(x, (0, 212)), 1)[:, :300].contiguous()"],
    "layer_norm": ["return torch.nn.functional.layer_norm(x, (x.shape[1],))",
                   NORM + "var = (x * x).mean(1, keepdim=True) - mean * mean\n"
                   "return (x - mean) * torch.rsqrt(var + 1e-5) * self.norm.weight + self.norm.bias",
                   NORM + "d = x - mean\nreturn d * torch.rsqrt(d.square().mean(1, keepdim=True) + 1e-6)"
                   " * self.norm.weight + self.norm.bias"],
    "linear_gelu": ["return torch.nn.functional.gelu(self.linear(x), approximate='tanh')",
                    "return torch.nn.functional.gelu(x @ self.linear.weight.t())",
                    "return torch.nn.functional.gelu((x.bfloat16() @ self.linear.weight.bfloat16().t()).float()"
                    " + self.linear.bias)"],
    "cross_entropy": ["return torch.nn.functional.cross_entropy(logits, classes, reduction='sum')",
                      "sums = torch.log(torch.exp(logits).sum(1))\n"
                      "return (sums - logits.gather(1, classes[:, None])[:, 0]).mean()",
                      "return torch.nn.functional.cross_entropy(logits[:-1], classes[:-1])"],
    "mean": ["return x[:, :32].mean(1)", "return x.half().mean(1).float()", "return x.mean(0)[:, :20]"],
    "conv": ["y = torch.nn.functional.conv2d(torch.nn.functional.pad(x, (1, 1, 1, 1), mode='replicate'),"
             " self.conv.weight, self.conv.bias)\nreturn self.pool(torch.relu(self.norm(y)))",
             "self.norm.eval()\nreturn self.pool(torch.relu(self.norm(self.conv(x))))"],
    "attention": ["b, n, width = x.shape\n"
                  "q, k, v = (y.view(b, n, self.heads, -1).transpose(1, 2) for y in self.project(x).chunk(3, 2))\n"
                  f"y = torch.nn.functional.scaled_dot_product_attention(q, k, v, {options})\n"
                  "return y.transpose(1, 2).reshape(b, n, width)"
                  for options in ("is_causal=False", "is_causal=True, scale=1.0")],
    "cumulative": ["return torch.cumsum(x, 1) - x", "return torch.cumsum(x, 0)",
                   "return torch.cumsum(x.bfloat16(), 1).float()"],
    "product": ["return torch.exp(torch.log(x.abs()).sum(1))", "return x[:, :-1].prod(1)"],
    "places": ["return x.argmin(1)", "return x.shape[1] - 1 - x.flip(1).argmax(1)", "return x.abs().argmax(1)"],
    "einsum": ["return x @ w.t()", "return (x.bfloat16() @ w.bfloat16()).float()"],
    "transposed": ["return torch.nn.functional.conv_transpose2d(x, self.conv.weight.flip(2, 3), self.conv.bias,"
                   " 2, 1, 1, 2)", "y = self.conv(x)\ny[:, :, -1] = 0\nreturn y"],
}


def candidate(folder, task, forward, before=""):
    """A file with the task's model, called ModelNew, and another forward()."""
    text = (TASKS / f"{task}.py").read_text().replace("class Model(", "class ModelNew(")
    body = textwrap.indent(forward, " " * 8)
    text = re.sub(r"(    def forward\(.*\):\n)(?: {8}.*\n)+", lambda found: found[1] + body + "\n", text)
    path = folder / "candidate.py"
    path.write_text(before + text)
    return path


def checked(folder, task, forward, **options):
    return check_task(TASKS / f"{task}.py", candidate(folder, task, forward), **{**QUICK, **options})


def cases(table):
    return [pytest.param(task, forward, id=f"{task}{i}") for task, all_of in table.items()
            for i, forward in enumerate(all_of)]


@pytest.mark.parametrize("task, forward", cases(RIGHT))
def test_a_right_candidate_passes(tmp_path, task, forward, request):
    seed = request.config.getoption("--kernel-seed") or 0
    checked(tmp_path, task, forward, seed=seed).assert_ok()


@pytest.mark.parametrize("task, forward", cases(WRONG))
def test_a_wrong_candidate_is_found(tmp_path, task, forward, request):
    seed = request.config.getoption("--kernel-seed") or 0
    assert checked(tmp_path, task, forward, seed=seed).findings


def test_the_report_tells_what_was_varied(tmp_path):
    result = checked(tmp_path, "layer_norm", "return self.norm(x)")
    assert result.report["task"] == {
        "task": "layer_norm.py", "candidate": "candidate.py", "inputs": [[16, 70]],
        "varied_parameters": ["norm.weight", "norm.bias"], "kept_parameters": [], "left_out": []}
    assert json.loads(result.to_json()) == result.report
    assert result.report["impostors"] and result.report["op"] == "layer_norm"


def test_a_candidate_that_packs_its_weights_keeps_them(tmp_path):
    packs = ("if not hasattr(self, 'packed'):\n    self.packed = (self.linear.weight.t().contiguous(),"
             " self.linear.bias.clone())\n"
             "return torch.nn.functional.gelu(x @ self.packed[0] + self.packed[1])")
    checked(tmp_path, "linear_gelu", packs, keep_parameters=True).assert_ok()
    assert not checked(tmp_path, "linear_gelu", packs)


def test_the_candidate_cannot_change_the_reference(tmp_path):
    text = "import torch\ntorch.relu = torch.nn.functional.relu = lambda x: x\n"
    path = candidate(tmp_path, "relu", "return torch.relu(x)", before=text)
    assert check_task(TASKS / "relu.py", path, **QUICK).findings[0].fault == "wrong value"
    path.write_text("import os\nos._exit(0)\n")
    assert "exit" in check_task(TASKS / "relu.py", path, **QUICK).findings[0].message
    path.write_text("class Other: pass\n")
    assert "ModelNew" in check_task(TASKS / "relu.py", path, **QUICK).findings[0].message


def test_sizes_can_be_chosen_and_ranges_kept(tmp_path):
    result = checked(tmp_path, "relu", "return torch.relu(x)", sizes={"dim": 5})
    assert result.report["task"]["inputs"] == [[16, 5]]
    assert checked(tmp_path, "relu", "return x.clone()", keep_range=True), "get_inputs() has no negative value"
    with pytest.raises(TaskError, match="expected a number missing in relu.py, got None"):
        checked(tmp_path, "relu", "return x", sizes={"missing": 5})
    with pytest.raises(TaskError, match="expected at most 4194304 elements .*, got 16000000"):
        checked(tmp_path, "relu", "return x", sizes={"dim": 10**6})


def test_an_op_without_formula_is_refused(tmp_path):
    with pytest.raises(TaskError, match="sorting.py uses sort, whose errors no formula bounds: unbounded; state the op"):
        checked(tmp_path, "sorting", "return torch.sort(x, 1)[0]")


@pytest.mark.parametrize("equation", ["ij,jk,kl->il", "...ij,jk->...ik", "ii->i"])
def test_an_einsum_without_formula_names_what_is_expected(tmp_path, equation):
    task = tmp_path / "equation.py"
    count = equation.count(",") + 1
    task.write_text((TASKS / "einsum.py").read_text().replace('"bil,lk->bik", x, w', f'"{equation}", *[x] * {count}'))
    with pytest.raises(TaskError, match="expected one or two operands without '...' or a letter twice"):
        check_task(task, task, **QUICK)


def test_the_command_line(tmp_path):
    command = [sys.executable, "-m", "halfgrad.checking.kernelbench", TASKS / "relu.py"]

    def run(*arguments):
        return subprocess.run([*command, *map(str, arguments)], text=True, capture_output=True)

    wrong = candidate(tmp_path, "relu", "return x.clone()")
    done = run(wrong, "--json", tmp_path / "r.json", "--junit", tmp_path / "r.xml", "--no-shrink")
    assert done.returncode == 1 and "relu, float32 -> float32" in done.stdout
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["schema_version"] == 1 and not report["passed"] and report["task"]["task"] == "relu.py"
    assert "<failure" in (tmp_path / "r.xml").read_text()
    done = run(tmp_path / "missing.py")
    assert (done.returncode, done.stderr) == (
        2, f"kernelbench: expected a Python file, got {tmp_path / 'missing.py'}\n")
