# What nvcc makes of a file of kernels, for every architecture we ship: no register is spilled, and
# the PTX has the instructions that the kernel is about. Needs no GPU. Run with
#   -DNVCC=... -DINCLUDE=<build>/include -DSOURCE=<file>.cu -DPATTERN=<regular expression>
# PATTERN may be empty.

cmake_minimum_required(VERSION 3.24)

set(flags -std=c++20 -O3 --expt-relaxed-constexpr -DHALFGRAD_CUDA "-I${INCLUDE}")
cmake_path(GET SOURCE STEM name)

function(run_nvcc output)
  execute_process(COMMAND "${NVCC}" ${flags} ${ARGN} "${SOURCE}" RESULT_VARIABLE failed
                  OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(failed)
    message(FATAL_ERROR "${name}: expected nvcc to compile it, got\n${text}")
  endif()
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

foreach(architecture IN ITEMS 80 90)
  set(made "${CMAKE_CURRENT_BINARY_DIR}/${name}_${architecture}")
  run_nvcc(report -arch=sm_${architecture} -cubin -Xptxas -v -o "${made}.cubin")
  string(REGEX MATCHALL "[0-9]+ bytes spill (stores|loads)" spills "${report}")
  if(NOT spills)
    message(FATAL_ERROR "${name}: expected a report of registers, got\n${report}")
  endif()
  list(FILTER spills EXCLUDE REGEX "^0 bytes")
  if(spills)
    message(FATAL_ERROR "${name}: expected no spills for ${architecture}, got\n${report}")
  endif()

  if(PATTERN)
    run_nvcc(ignored -arch=compute_${architecture} -ptx -o "${made}.ptx")
    file(STRINGS "${made}.ptx" found REGEX "${PATTERN}")
    if(NOT found)
      message(FATAL_ERROR "${name}: expected '${PATTERN}' in its PTX for ${architecture}")
    endif()
  endif()
endforeach()
