# Runs -DPROGRAM=tools/gpu-check with -DPYTHON on a simulated machine: a fake nvidia-smi reports a GPU, and
# CMake is missing. The report must say so.
cmake_minimum_required(VERSION 3.24)

set(folder "${CMAKE_CURRENT_BINARY_DIR}/gpu_check")
file(REMOVE_RECURSE "${folder}")
file(WRITE "${folder}/path/nvidia-smi" "#!/bin/sh\necho 'No GPU, 1.0, 9.0, 1 MiB'\n")
file(CHMOD "${folder}/path/nvidia-smi" PERMISSIONS OWNER_READ OWNER_EXECUTE)
# The interpreter's real path: `python` may be a script that needs the original PATH.
execute_process(COMMAND "${PYTHON}" -c "import sys; print(sys.executable, end='')"
                OUTPUT_VARIABLE PYTHON COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" -E env "PATH=${folder}/path" "${PYTHON}" "${PROGRAM}" --out report
                WORKING_DIRECTORY "${folder}" RESULT_VARIABLE status OUTPUT_VARIABLE text
                ERROR_VARIABLE text)
set(report "none")
if(EXISTS "${folder}/report/gpu-check.md")
  file(READ "${folder}/report/gpu-check.md" report)
endif()
if(NOT status EQUAL 1 OR text MATCHES "Traceback" OR NOT report MATCHES "configure \\| FAILED \\(127\\)")
  message(FATAL_ERROR "gpu-check without CMake: expected a report of it, got ${status}, ${report} and\n"
                      "${text}")
endif()
file(REMOVE_RECURSE "${folder}")
