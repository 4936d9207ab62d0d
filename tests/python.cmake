# Tests the exchange of memory and files with Python packages. ctest skips the packages that the interpreter
# lacks; -DPython3_EXECUTABLE=... chooses another interpreter.
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(WARNING "No Python found: the tests with Python packages are left out")
  return()
endif()

add_library(exchange MODULE io/python/exchange.cpp)
target_link_libraries(exchange PRIVATE halfgrad::halfgrad)
target_compile_options(exchange PRIVATE ${unoptimised})
add_dependencies(halfgrad_tests exchange)

function(add_python_test script package)
  add_test(NAME ${script}_${package}
           COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/io/python/${script}.py"
                   "$<TARGET_FILE:exchange>" ${package} ${ARGN})
  set_tests_properties(${script}_${package} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()
add_python_test(share_memory numpy)
add_python_test(share_memory torch)
add_python_test(exchange_files numpy "${CMAKE_CURRENT_SOURCE_DIR}/expected/formats")
add_python_test(exchange_files safetensors "${CMAKE_CURRENT_SOURCE_DIR}/expected/formats")
add_test(NAME gpu_check COMMAND "${CMAKE_COMMAND}" "-DPYTHON=$<TARGET_FILE:Python3::Interpreter>"
                                "-DPROGRAM=${PROJECT_SOURCE_DIR}/tools/gpu-check"
                                -P "${CMAKE_CURRENT_SOURCE_DIR}/tools/gpu_check.cmake")
add_test(NAME voice COMMAND "${CMAKE_COMMAND}" "-DPYTHON=$<TARGET_FILE:Python3::Interpreter>"
                            "-DPROGRAM=${PROJECT_SOURCE_DIR}/tools/voice"
                            "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/voice"
                            -P "${CMAKE_CURRENT_SOURCE_DIR}/tools/voice.cmake")
add_test(NAME scripts COMMAND "${CMAKE_COMMAND}" "-DPYTHON=$<TARGET_FILE:Python3::Interpreter>"
                              "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
                              -P "${CMAKE_CURRENT_SOURCE_DIR}/tools/scripts.cmake")
# Looks at the pages of reports in Chromium.
if(HALFGRAD_EXAMPLES)
  add_test(NAME report_pages
           COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/report/browser/page_test.py"
                   "${PROJECT_BINARY_DIR}/bin" "${CMAKE_CURRENT_BINARY_DIR}/report_pages")
  set_tests_properties(report_pages PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()
# The example of a pytest suite for CUDA kernels, which runs under the emulator.
if(TARGET example_cuda_kernels AND HALFGRAD_TOOLS)
  set(example "${PROJECT_SOURCE_DIR}/examples/cuda_kernels/test_kernels.py")
  add_test(NAME pytest_cuda_kernels
           COMMAND sh -c "\"$0\" -c 'import pytest' || exit 77; exec \"$0\" -m pytest -q -p no:cacheprovider \"$1\""
                   "$<TARGET_FILE:Python3::Interpreter>" "${example}")
  set_tests_properties(
    pytest_cuda_kernels
    PROPERTIES SKIP_RETURN_CODE 77
               ENVIRONMENT "HALFGRAD_CHECK=$<TARGET_FILE:halfgrad-check>;HALFGRAD_INCLUDE=${PROJECT_BINARY_DIR}/include;NVCC=${CUDAToolkit_NVCC_EXECUTABLE};PYTHONDONTWRITEBYTECODE=1")
else()
  message(STATUS "No nvcc, emulator or tools: the example of pytest for CUDA kernels is not tested")
endif()
