# CUDA as a language: finds nvcc where the toolkit installs it, chooses architectures, sets options.

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

# One runtime for all our libraries and whoever uses them.
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

# CMake 3.25.1 knows no C++20 option for nvcc and would fail at generation, and in its own test of the
# compiler above if the standard were set before that.
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
endif()

# Not said: 1675, a pragma of g++, which nvcc passes on to it; 20011 and 20014, a formula's instance on
# SIMD packs, which is for the host alone and calls host functions.
# constexpr functions of the standard library (std::optional in a clamp) are called on the device too.
# 20208: a reference's long double, likewise. 177: a trait that only a concept reads, as unused.
set(unsaid --diag-suppress=177,1675,20011,20014,20208 --expt-relaxed-constexpr)
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:${unsaid}>")
# As CompilerOptions.cmake has it for C++.
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fno-math-errno,-fno-trapping-math>")
