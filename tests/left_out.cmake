# Configures halfgrad without some of its folders, and checks what is left out. Runs with -DSOURCE_DIR=...
# -DSCRATCH=... -DCOMPILER=...
cmake_minimum_required(VERSION 3.24)

function(configure output result)
  execute_process(COMMAND "${CMAKE_COMMAND}" --fresh -G Ninja -S "${SOURCE_DIR}" -B "${SCRATCH}"
                          "-DCMAKE_CXX_COMPILER=${COMPILER}" ${ARGN}
                  OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE status)
  set(${output} "${text}" PARENT_SCOPE)
  set(${result} ${status} PARENT_SCOPE)
endfunction()

# expect_left_out(<option> <folder>...): the folders are left out, and no other.
function(expect_left_out option)
  configure(text status -DHALFGRAD_${option}=OFF)
  list(JOIN ARGN ", " names)
  if(status OR NOT text MATCHES "halfgrad: left out: ${names}\n")
    message(FATAL_ERROR "HALFGRAD_${option}=OFF: expected \"left out: ${names}\", got\n${text}")
  endif()
  file(READ "${SCRATCH}/build.ninja" rules)
  foreach(folder IN ITEMS core files autograd nn optim amp async data io dist compat testing report)
    string(FIND "${rules}" "libhalfgrad_${folder}.a" position)
    if(folder IN_LIST ARGN AND NOT position EQUAL -1)
      message(FATAL_ERROR "HALFGRAD_${option}=OFF: expected no rule for ${folder}, got one")
    elseif(NOT folder IN_LIST ARGN AND position EQUAL -1)
      message(FATAL_ERROR "HALFGRAD_${option}=OFF: expected a rule for ${folder}, got none")
    endif()
  endforeach()
endfunction()

expect_left_out(DATA data dist compat)
expect_left_out(IO io dist compat testing)
expect_left_out(DIST dist)
expect_left_out(TESTING testing)

configure(text status -DHALFGRAD_DATA=OFF -DHALFGRAD_TESTS=ON)
if(NOT text MATCHES "expected HALFGRAD_TESTS=OFF without data, dist, compat")
  message(FATAL_ERROR "expected tests without data to be refused, got\n${text}")
endif()
