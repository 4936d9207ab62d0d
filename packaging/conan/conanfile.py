"""Conan 2 recipe, which packs the repository that it lies in: conan create packaging/conan"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

# The folders of the library, in the order of dependencies; see cmake/Folders.cmake.
FOLDERS = {
    "core": [], "files": ["core"], "autograd": ["core"], "nn": ["autograd"], "optim": ["autograd"],
    "amp": ["autograd", "optim"], "async": ["amp", "optim"], "data": ["autograd", "files"],
    "io": ["nn", "async", "files"], "dist": ["async", "data", "io"],
    "compat": ["nn", "optim", "data", "io"],
    "testing": ["autograd", "io"], "report": ["nn", "amp", "files"],
}


class Halfgrad(ConanFile):
    name = "halfgrad"
    description = "Tensors, autograd and mixed-precision training in C++20 and CUDA"
    license = "Apache-2.0"
    topics = ("mixed-precision", "autograd", "machine-learning")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "data": [True, False], "io": [True, False],
               "dist": [True, False], "testing": [True, False], "with_mpi": [True, False]}
    default_options = {"shared": False, "data": True, "io": True, "dist": True, "testing": True,
                       "with_mpi": False}

    def set_version(self):
        lists = load(self, os.path.join(self.recipe_folder, "..", "..", "CMakeLists.txt"))
        self.version = re.search(r"project\(halfgrad VERSION ([0-9.]+)", lists).group(1)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "halfgrad.h", "eigen.h", "cmake/*",
                        *(f"{folder}/*" for folder in FOLDERS)):
            copy(self, pattern, src=root, dst=self.export_sources_folder)

    def configure(self):
        if not self.options.io:
            self.options.rm_safe("testing")
        if not self.options.io or not self.options.data:
            self.options.rm_safe("dist")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.options.with_mpi and not self.options.get_safe("dist"):
            raise ConanInvalidConfiguration("halfgrad: expected dist=True for with_mpi; dist uses data and io")
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("halfgrad: expected Linux, which it is tested on")

    def requirements(self):
        self.requires("zlib/[>=1.2.11 <2]")
        if self.options.with_mpi:
            self.requires("openmpi/[>=4.1 <6]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option in ("data", "io", "dist", "testing"):
            toolchain.cache_variables[f"HALFGRAD_{option.upper()}"] = bool(self.options.get_safe(option))
        for option in ("NATIVE", "TESTS", "EXAMPLES", "TOOLS"):
            toolchain.cache_variables[f"HALFGRAD_{option}"] = False
        toolchain.cache_variables["HALFGRAD_MPI"] = bool(self.options.with_mpi)
        if self._takes("openmpi"):
            toolchain.cache_variables["MPI_HOME"] = self.dependencies["openmpi"].package_folder
        toolchain.cache_variables["HALFGRAD_NCCL"] = False
        toolchain.cache_variables["CMAKE_UNITY_BUILD"] = True
        toolchain.user_presets_path = False  # leaves the sources as they are
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # CMakeDeps and PkgConfigDeps write these files for the consumer.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "halfgrad")
        self.cpp_info.set_property("cmake_target_name", "halfgrad::halfgrad")
        self.cpp_info.set_property("pkg_config_name", "halfgrad")
        for folder, uses in FOLDERS.items():
            if not os.path.exists(self._library(folder)):
                continue  # left out
            component = self.cpp_info.components[folder]
            component.set_property("cmake_target_name", f"halfgrad::{folder}")
            component.libs = [f"halfgrad_{folder}"]
            component.requires = list(uses)
            component.cxxflags = ["-Wno-psabi"]
        self.cpp_info.components["core"].system_libs = ["pthread", "dl"]
        self._link("files", "zlib", "z")
        if self.options.with_mpi:
            self._link("dist", "openmpi", "mpi")

    def _link(self, folder, package, library):
        if self._takes(package):
            self.cpp_info.components[folder].requires.append(f"{package}::{package}")
        else:
            self.cpp_info.components[folder].system_libs = [library]

    def _takes(self, package):
        """False if a profile takes the package from the system: [platform_requires] zlib/1.2.13"""
        return any(dependency.ref.name == package for dependency in self.dependencies.host.values())

    def _library(self, folder):
        ending = "so" if self.options.shared else "a"
        return os.path.join(self.package_folder, "lib", f"libhalfgrad_{folder}.{ending}")
