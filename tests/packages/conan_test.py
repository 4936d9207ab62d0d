#!/usr/bin/env python3
"""Checks the Conan recipe against the build: its components are the folders and what each uses, its options
exist. With Conan 2 in PATH, also exports it.   tests/packages/conan_test.py"""

import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPE = ROOT / "packaging/conan"


def expect(is_right, text):
    if not is_right:
        raise SystemExit(f"conan_test: expected {text}")


def used_folders(folder):
    text = (ROOT / folder / "CMakeLists.txt").read_text()
    return re.search(rf"halfgrad_library\({folder}(?: USES ([a-z ]+))?\)", text).group(1) or ""


def check_recipe():
    recipe = (RECIPE / "conanfile.py").read_text()
    tree = ast.parse(recipe)
    folders = next(ast.literal_eval(node.value) for node in tree.body
                   if isinstance(node, ast.Assign) and node.targets[0].id == "FOLDERS")
    lists = (ROOT / "cmake/Folders.cmake").read_text()
    names = re.search(r"set\(HALFGRAD_FOLDERS ([a-z ]+)\)", lists).group(1).split()
    expect(list(folders) == names, f"the folders {names}, got {list(folders)}")
    for folder, uses in folders.items():
        expect(uses == used_folders(folder).split(), f"what {folder} uses, got {uses}")
    options = set(re.findall(r"^option\(HALFGRAD_(\w+)",
                             lists + (ROOT / "CMakeLists.txt").read_text(), re.M))
    for names in re.findall(r"for option in \(([^)]+)\)", recipe):
        used = {name.upper() for name in re.findall(r'"(\w+)"', names)}
        expect(used <= options, f"options of CMakeLists.txt, got {used}")
    expect('["HALFGRAD_MPI"] = bool(self.options.with_mpi)' in recipe, "with_mpi to set HALFGRAD_MPI")
    with_mpi = 'if self.options.with_mpi:\n            self.requires("openmpi/'
    expect(with_mpi in recipe, "with_mpi to require Open MPI")


def check_graph(conan, environment, profile):
    """Asks Conan, without a network, what the package requires: the system has zlib and Open MPI."""
    profile.write_text("[settings]\nos=Linux\narch=x86_64\ncompiler=gcc\ncompiler.version=12\n"
                       "compiler.libcxx=libstdc++11\ncompiler.cppstd=20\nbuild_type=Release\n"
                       "[platform_requires]\nzlib/1.2.13\nopenmpi/4.1.4\n")
    lists = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"project\(halfgrad VERSION ([0-9.]+)", lists).group(1)
    for options, binary, needs_mpi in ((["io=False"], "Missing", False), (["with_mpi=True"], "Missing", True),
                                       (["with_mpi=True", "data=False"], "Invalid", True)):
        run = subprocess.run([conan, "graph", "info", f"--requires=halfgrad/{version}", "--no-remote",
                              "--format=json", f"--profile:all={profile}",
                              *(f"--options=halfgrad/*:{option}" for option in options)],
                             env=environment, text=True, capture_output=True, check=False)
        expect(run.returncode == 0, f"a graph with {options}, got {run.stderr}")
        nodes = {node["ref"].split("/")[0]: node for node in json.loads(run.stdout)["graph"]["nodes"].values()}
        expect(nodes["halfgrad"]["binary"] == binary, f"{binary} with {options}, got {run.stderr}")
        expect(("openmpi" in nodes) == needs_mpi, f"MPI with with_mpi only, got {set(nodes)}")


def export_recipe():
    conan = shutil.which("conan")
    if conan is None:
        print("conan_test: no conan in PATH, so the recipe was not exported")
        return
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"CONAN_HOME": home}
        run = subprocess.run([conan, "export", str(RECIPE)], env=environment, text=True,
                             capture_output=True, check=False)
        expect(run.returncode == 0 and "Exported: halfgrad/" in run.stderr,
               f"conan to export the recipe, got {run.stderr}")
        exported = {path.name for path in pathlib.Path(home).rglob("*")}
        check_graph(conan, environment, pathlib.Path(home) / "profile")
        expect({"CMakeLists.txt", "table.cpp", "LICENSE", "halfgrad-config.cmake.in", "page.css"}
               <= exported, "the sources in the export")


if __name__ == "__main__":
    check_recipe()
    export_recipe()
    print("conan_test: passed")
