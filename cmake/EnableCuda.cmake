# Enables CUDA as a language: finds nvcc, chooses architectures, sets options.

find_program(CMAKE_CUDA_COMPILER nvcc HINTS ENV CUDACXX ENV CUDA_PATH /usr/local/cuda
             PATH_SUFFIXES bin DOC "The CUDA compiler")

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE no_gpu OUTPUT_QUIET ERROR_QUIET)
  if(no_gpu)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  else()
    set(CMAKE_CUDA_ARCHITECTURES native)
  endif()
endif()

# One shared runtime for all of halfgrad's libraries and their users.
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

# CMake 3.25.1 has no C++20 option for nvcc and fails at generation. The standard is set only after
# enable_language, because CMake's own test of the compiler would fail the same way.
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
endif()

# Suppressed diagnostics of nvcc:
#   177           an unused trait: only a concept reads it
#   1675          a pragma of g++, which nvcc passes on to it
#   20011, 20014  a host function called by a formula's instance on SIMD packs, which is host code
#   20208         long double in a reference, which is host code too
# Device code calls constexpr functions of the standard library (std::optional in a clamp).
set(nvcc_options --diag-suppress=177,1675,20011,20014,20208 --expt-relaxed-constexpr)
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:${nvcc_options}>")
# The same options as in CompilerOptions.cmake for C++.
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fno-math-errno,-fno-trapping-math>")
