# Checks the scripts in bench/ and tools/ of -DSOURCE_DIR: they are executable, print --help without their
# dependencies, and end with status 2 for wrong arguments. -DPYTHON runs those in Python.
cmake_minimum_required(VERSION 3.24)

function(expect_script status pattern script)
  file(STRINGS "${SOURCE_DIR}/${script}" first LIMIT_COUNT 1)
  set(interpreter bash)
  if(first STREQUAL "#!/usr/bin/env python3")
    set(interpreter "${PYTHON}")
  elseif(NOT first STREQUAL "#!/usr/bin/env bash")
    message(FATAL_ERROR "${script}: expected a line #!/usr/bin/env, got ${first}")
  endif()
  execute_process(COMMAND test -x "${SOURCE_DIR}/${script}" RESULT_VARIABLE is_executable)
  if(NOT is_executable EQUAL 0)
    message(FATAL_ERROR "${script}: expected an executable file, got another")
  endif()
  execute_process(COMMAND "${interpreter}" "${SOURCE_DIR}/${script}" ${ARGN}
                  RESULT_VARIABLE actual OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT actual EQUAL status OR NOT text MATCHES "${pattern}" OR text MATCHES "Traceback")
    message(FATAL_ERROR "${script} ${ARGN}: expected status ${status} and '${pattern}', got ${actual} and\n"
                        "${text}")
  endif()
endfunction()

file(GLOB scripts RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/bench/*.py" "${SOURCE_DIR}/tools/*.py")
list(REMOVE_ITEM scripts bench/amp_works.py)  # a module
foreach(script IN LISTS scripts ITEMS tools/emulate-tests tools/gpu-check tools/lesson tools/voice)
  expect_script(0 "usage: " ${script} --help)
  expect_script(2 "usage: " ${script} --no-such-option)
endforeach()
foreach(script IN ITEMS tools/format tools/lint tools/fuzz tools/install_deps tools/lab)
  expect_script(0 "${script}" ${script} --help)
  expect_script(2 "${script}" ${script} no_such_argument)
endforeach()
expect_script(2 "expected a file, got none.h" tools/voice none.h)
expect_script(2 "expected some of idx .*, got zip" tools/fuzz 1 zip)

# The scripts that compare halfgrad with other libraries fail without halfgrad's own program.
set(missing "${CMAKE_CURRENT_LIST_DIR}/missing")
expect_script(2 "got no program at ${missing}; build it: cmake --preset cpu && cmake --build --preset cpu --target"
              bench/compare_pytorch.py "${missing}")
foreach(script IN ITEMS bench/compare_pytorch_cuda.py bench/compare_jax.py)
  expect_script(2 "got no program at ${missing}/bench_amp_step; build it: cmake --preset" ${script} "${missing}")
endforeach()
expect_script(2 "no such folder: ${missing}" bench/digits_pytorch.py "${missing}")
expect_script(2 "no such folder: ${missing}" bench/pytorch_mnist.py --data "${missing}")
