# Runs -DPROGRAM=tools/gpu-check with -DPYTHON on a simulated machine: a fake nvidia-smi reports a GPU, and
# CMake is missing. The report must say so. Then runs it with --emulated.
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

# With --emulated it runs the tests of a build without a GPU, here a fake one with one test program. Under
# seed 2 its test has a finding.
file(WRITE "${folder}/build/lib/halfgrad-emulator/libcudart.so.13" "")
file(WRITE "${folder}/build/tests/test_core" "#!/bin/sh
case \"$*\" in *--gtest_list_tests*) echo 'RaceOnCuda.'; echo '  IsFound'; exit;; esac
echo '[ RUN      ] RaceOnCuda.IsFound'
case \"$HALFGRAD_EMULATE\" in *'\"seed\": 2'*) echo '==halfgrad-emulate== error: race: planted';; esac
echo '[       OK ] RaceOnCuda.IsFound (1 ms)'
")
file(CHMOD "${folder}/build/tests/test_core" PERMISSIONS OWNER_READ OWNER_EXECUTE)
function(expect_emulated seeds expected_status pattern)
  execute_process(COMMAND "${PYTHON}" "${PROGRAM}" --emulated --build build --only "^core$" --seeds ${seeds}
                          --jobs 1 --out report
                  WORKING_DIRECTORY "${folder}" RESULT_VARIABLE status OUTPUT_VARIABLE text
                  ERROR_VARIABLE text)
  set(report "none")
  if(EXISTS "${folder}/report/emulated-check.md")
    file(READ "${folder}/report/emulated-check.md" report)
  endif()
  if(NOT status EQUAL expected_status OR NOT report MATCHES "${pattern}")
    message(FATAL_ERROR "gpu-check --emulated --seeds ${seeds}: expected ${expected_status} and ${pattern}, "
                        "got ${status}, ${report} and\n${text}")
  endif()
endfunction()
expect_emulated(1 0 "not on a GPU.*eager . passed . 1 ran, 1 passed.*0 findings.*lazy:1 . passed")
expect_emulated(2 1 "lazy:1 . passed.*lazy:2 . FAILED .1. . 1 ran, 1 passed.*1 findings")
file(REMOVE_RECURSE "${folder}")
