"""Finds kernels that spill registers to local memory, with ptxas.

    spills.py PTXAS ARCHITECTURE LIBRARY...

Reads the plain PTX that nvcc embeds in libraries (--no-compress) and assembles it for the
architecture, or for the one architecture that it names, such as sm_90a. Exits with 1 if a kernel spills registers or has a local array that no entry of KNOWN
explains, or if an entry explains nothing.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# (part of a kernel's mangled name, bytes of stack that a thread may use, reason)
KNOWN = (
    ("10share_rows", 48, "12 registers: blocks of 512 threads have only 128 registers per thread"),
    ("8map_rowsId", 24, "6 registers: 64-bit rows need twice the registers of 32-bit ones"),
    ("8map_rowsIfNS0_20NormalizeGradientRow", 8, "2 registers: a fallback for layer_norm.cu"),
    ("8map_rowsIfNS0_18SoftmaxGradientRow", 8, "2 registers: the branches over all dtypes of an operand"),
    ("7MlpGeluEEEvNS0_11MlpOperandsEPT_", 16, "4 registers of mlp_forward: the formula of gelu beside a tile"),
    ("14update_tensors", 32, "8 registers that are read once for each chunk of a tensor"),
    ("12RAdamFormula", 56, "registers kept over the powers, once for each chunk of a tensor"),
    ("11NAdamUpdate", 40, "registers kept over the powers, once for each chunk of a tensor"),
    ("11RunningSums", 256, "an array of 32 columns, which only the CPU uses"),
    ("10SumOfGroup", 256, "an array of 32 columns, which only the CPU uses"),
    ("3Sin", 40, "an array of CUDA's range reduction of a double"),
    ("3Cos", 40, "an array of CUDA's range reduction of a double"),
    ("3Tan", 40, "an array of CUDA's range reduction of a double"),
)


def programs(library):
    """Yields the PTX in a library, one text for each source."""
    data = pathlib.Path(library).read_bytes()
    for match in re.finditer(rb"\n\.version \d", data):
        text = data[match.start():data.index(b"\0", match.start())]
        if b".entry" in text:
            yield text


def warnings(ptxas, architecture, text):
    """Returns {kernel: bytes of stack} for the kernels that use local memory."""
    only = re.search(rb"\.target (sm_\d+a)", text)
    if only:
        architecture = only.group(1).decode()
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "kernels.ptx")
        source.write_bytes(text)
        options = ["--warn-on-spills", "--warn-on-local-memory-usage", "-arch", architecture]
        run = subprocess.run([ptxas, *options, source, "-o", os.devnull], capture_output=True,
                             text=True)
    if run.returncode != 0:
        sys.exit(f"spills: expected ptxas to assemble what nvcc made, got\n{run.stderr}")
    stacks = re.findall(r"Local memory used for function '(\w+)', size of stack frame: (\d+)",
                        run.stderr)
    return {name: int(size) for name, size in stacks}


def main(ptxas, architecture, *libraries):
    texts = [text for library in libraries for text in programs(library)]
    if not texts:
        sys.exit("spills: expected plain PTX in the libraries, got none; build with "
                 "-DCMAKE_CUDA_ARCHITECTURES=80-virtual -DCMAKE_CUDA_FLAGS=--no-compress")
    kernels = sum(text.count(b".entry") for text in texts)
    texts.sort(key=len, reverse=True)
    found = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for warned in pool.map(lambda text: warnings(ptxas, architecture, text), texts):
            found |= warned
    unknown = {name: size for name, size in found.items()
               if not any(part in name and size <= most for part, most, _ in KNOWN)}
    unused = [part for part, _, _ in KNOWN if not any(part in name for name in found)]
    for name, size in unknown.items():
        print(f"  {name}: {size} bytes of stack")
    for part in unused:
        print(f"  {part}: expected to explain something, and explains nothing")
    print(f"spills: {kernels} kernels for {architecture}, {len(found) - len(unknown)} that spill or "
          f"have local arrays for known reasons, {len(unknown)} others")
    sys.exit(bool(unknown or unused))


if __name__ == "__main__":
    main(*sys.argv[1:])
