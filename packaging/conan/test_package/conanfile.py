"""Builds the programs of tests/consumer against the package, and runs them."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class HalfgradTest(ConanFile):
    settings = "os", "compiler", "build_type", "arch"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        for program in ("consumer", "dist"):
            path = os.path.join(self.cpp.build.bindir, program)
            if can_run(self) and os.path.exists(path):
                self.run(path, env="conanrun")
