#!/usr/bin/env python3
"""Checks the port for vcpkg without vcpkg: its manifest against vcpkg's documented rules, and its options
and paths against the build.   tests/packages/vcpkg_test.py"""

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PORT = ROOT / "packaging/vcpkg/halfgrad"
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# The fields in vcpkg's reference of vcpkg.json.
FIELDS = {"name", "version-semver", "description", "license", "supports", "dependencies",
          "default-features", "features", "homepage"}
FEATURE_FIELDS = {"description", "dependencies", "supports", "license"}
DEPENDENCY_FIELDS = {"name", "default-features", "features", "host", "platform", "version>="}


def expect(is_right, text):
    if not is_right:
        raise SystemExit(f"vcpkg_test: expected {text}")


def check_dependencies(dependencies, features):
    for dependency in dependencies:
        if isinstance(dependency, str):
            dependency = {"name": dependency}
        expect(dependency.keys() <= DEPENDENCY_FIELDS, f"known fields, got {dependency}")
        expect(NAME.fullmatch(dependency["name"]), f"a port's name, got {dependency}")
        if dependency["name"] == "halfgrad":
            expect(set(dependency["features"]) <= features, f"own features, got {dependency}")


def check_folders(features):
    """A feature that is a folder depends on the features whose folders it uses; mpi on dist and MPI."""
    for name, feature in features.items():
        needed = {"dist"}
        if name != "mpi":
            lists = (ROOT / name / "CMakeLists.txt").read_text()
            uses = re.search(rf"halfgrad_library\({name}(?: USES ([a-z ]+))?\)", lists).group(1)
            needed = set((uses or "").split()) & set(features)
        own = set()
        for dependency in feature.get("dependencies", []):
            if isinstance(dependency, dict):
                expect(dependency["name"] == "halfgrad", f"a feature of halfgrad, got {dependency}")
                own |= set(dependency["features"])
        expect(own == needed, f"{name} to need the features {needed}, got {own}")
    expect("mpi" in features["mpi"]["dependencies"], "the feature mpi to need the port mpi")


def check_manifest(manifest, lists):
    features = set(manifest["features"])
    expect(manifest.keys() <= FIELDS, f"fields out of {FIELDS}, got {manifest.keys()}")
    expect(manifest["name"] == PORT.name, "the name of the folder")
    version = re.search(r"project\(halfgrad VERSION ([0-9.]+)", lists).group(1)
    expect(manifest["version-semver"] == version, f"the version {version} of CMakeLists.txt")
    expect(set(manifest["default-features"]) <= features, "default features that exist")
    check_dependencies(manifest["dependencies"], features)
    for name, feature in manifest["features"].items():
        expect(NAME.fullmatch(name), f"a feature's name, got {name}")
        expect(feature.keys() <= FEATURE_FIELDS and feature["description"], f"fields, got {feature}")
        check_dependencies(feature.get("dependencies", []), features)
    check_folders(manifest["features"])
    hosts = {d["name"] for d in manifest["dependencies"] if isinstance(d, dict) and d.get("host")}
    expect(hosts == {"vcpkg-cmake", "vcpkg-cmake-config"}, "the ports with vcpkg_cmake_* functions")
    return features


def main():
    lists = "".join((ROOT / path).read_text() for path in
                    ("CMakeLists.txt", "cmake/Folders.cmake"))
    manifest = json.loads((PORT / "vcpkg.json").read_text())
    features = check_manifest(manifest, lists)
    portfile = (PORT / "portfile.cmake").read_text()
    options = set(re.findall(r"^(?:option|set)\((HALFGRAD_\w+)", lists, re.M))
    for option in re.findall(r"HALFGRAD_[A-Z]+", portfile):
        expect(option in options, f"an option of CMakeLists.txt, got {option}")
    declared = dict(re.findall(r"^ +([a-z]+) (HALFGRAD_[A-Z]+)$", portfile, re.M))
    expect(set(declared) == features, f"an option for each of {features}, got {declared}")
    for feature, option in declared.items():
        expect(option == f"HALFGRAD_{feature.upper()}", f"the option of {feature}, got {option}")
    relative = re.search(r'CMAKE_CURRENT_LIST_DIR}/([./]+)"', portfile).group(1)
    expect((PORT / relative).resolve() == ROOT, f"the root of the repository, got {relative}")
    print("vcpkg_test: passed")


if __name__ == "__main__":
    main()
