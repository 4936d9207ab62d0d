# add_emulated_program(NAME SOURCE TARGET [HEADER...]): compiles a CUDA source to bin/NAME, with PTX, for
# halfgrad-emulate, before TARGET. Does nothing without nvcc or without the emulator. -fmad=false: sums
# have the bits that the same C++ has on the host.
function(add_emulated_program name source target)
  if(NOT HALFGRAD_EMULATOR)
    return()
  endif()
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_NVCC_EXECUTABLE)
    message(STATUS "No nvcc: ${name} is left out")
    return()
  endif()
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
  set(program "${PROJECT_BINARY_DIR}/bin/${name}")
  add_custom_command(
    OUTPUT "${program}"
    COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" -std=c++17 -cudart shared -lineinfo -fmad=false
            -gencode arch=compute_80,code=compute_80 -ccbin "${CMAKE_CXX_COMPILER}" "${source}" -o
            "${program}"
    DEPENDS "${source}" ${ARGN}
    COMMENT "Compiling ${name} for the emulator")
  add_custom_target(${name} DEPENDS "${program}")
  add_dependencies(${target} ${name} halfgrad-emulate halfgrad_emulator_cudart)
endfunction()
