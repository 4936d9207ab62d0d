# test_kernels: runs the CUDA kernels of the labs by halfgrad-emulate, and grades results, findings and
# counters. It needs nvcc and the emulator, but no GPU.
if(NOT HALFGRAD_EMULATOR OR NOT HALFGRAD_EXAMPLES)
  return()
endif()
find_package(CUDAToolkit QUIET)
if(NOT CUDAToolkit_NVCC_EXECUTABLE)
  message(STATUS "No nvcc: test_kernels and the labs of CUDA kernels are left out")
  return()
endif()

# Compiles `source` to `program`, with PTX for the emulator.
function(halfgrad_lab_kernel program source)
  add_custom_command(
    OUTPUT "${program}"
    COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" -std=c++17 -cudart shared -lineinfo
            -gencode arch=compute_80,code=compute_80 -ccbin "${CMAKE_CXX_COMPILER}"
            "-I${PROJECT_SOURCE_DIR}/examples/lab_kernels" "${source}" -o "${program}"
    DEPENDS "${source}" "${PROJECT_SOURCE_DIR}/examples/lab_kernels/program.h"
    COMMENT "Compiling a kernel of the labs for the emulator" VERBATIM)
endfunction()

set(lab_kernels "")
foreach(name IN ITEMS found_inf transposed_copy)
  halfgrad_lab_kernel("${PROJECT_BINARY_DIR}/bin/${name}"
                      "${PROJECT_SOURCE_DIR}/examples/lab_kernels/${name}.cu")
  list(APPEND lab_kernels "${PROJECT_BINARY_DIR}/bin/${name}")
endforeach()
add_custom_target(lab_kernels DEPENDS ${lab_kernels})
add_dependencies(lab_kernels halfgrad-emulate halfgrad_emulator_cudart)

list(APPEND definitions "HALFGRAD_EMULATE=\"$<TARGET_FILE:halfgrad-emulate>\"")
# A library, which a lab replaces by its own.
add_library(kernel_folder STATIC kernels/kernel_folder.cpp)
target_include_directories(kernel_folder PRIVATE "${PROJECT_BINARY_DIR}/include")
target_compile_definitions(kernel_folder PRIVATE
                           "HALFGRAD_KERNEL_FOLDER=\"${PROJECT_BINARY_DIR}/bin\"")
add_executable(test_kernels kernels/lab_kernels_test.cpp main.cpp)
target_link_libraries(test_kernels PRIVATE kernel_folder halfgrad::halfgrad GTest::gtest
                                           nlohmann_json::nlohmann_json)
target_compile_definitions(test_kernels PRIVATE ${definitions})
target_compile_options(test_kernels PRIVATE ${unoptimised})
add_dependencies(test_kernels lab_kernels)
add_dependencies(halfgrad_tests test_kernels)
add_test(NAME kernels COMMAND test_kernels)
