# Checks tools/lab of -DSOURCE_DIR: it lists the folders of labs/, refuses other names, and runs the lab
# -DLAB in the build folder -DBUILD without printing the output of the tests.
cmake_minimum_required(VERSION 3.24)

function(expect_lab status pattern)
  execute_process(COMMAND "${SOURCE_DIR}/tools/lab" ${ARGN} RESULT_VARIABLE actual OUTPUT_VARIABLE text
                  ERROR_VARIABLE text)
  if(NOT actual EQUAL status OR NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "tools/lab ${ARGN}: expected status ${status} and '${pattern}', got ${actual} and\n"
                        "${text}")
  endif()
  set(text "${text}" PARENT_SCOPE)
endfunction()

file(GLOB labs RELATIVE "${SOURCE_DIR}/labs" "${SOURCE_DIR}/labs/*")
foreach(arguments IN ITEMS "" --help)
  expect_lab(0 "NAME" ${arguments})
  foreach(lab IN LISTS labs)
    if(NOT text MATCHES "\n${lab}\n    [a-z]")
      message(FATAL_ERROR "tools/lab ${arguments}: expected a list with ${lab}, got\n${text}")
    endif()
  endforeach()
endforeach()
expect_lab(2 "got flashlight_grwth; did you mean flashlight_growth\\?" flashlight_grwth)
expect_lab(2 "got xyzzy\n" xyzzy)
expect_lab(2 "expected one lab" late_growth sum_is_one)
expect_lab(2 "got --list" --list)
expect_lab(2 "expected a configured build folder" --build "${CMAKE_CURRENT_LIST_DIR}" late_growth)

expect_lab(0 "Tests that fail with ${LAB}:\n  [A-Za-z/]+\\.[A-Za-z]" --build "${BUILD}" ${LAB})
string(REGEX MATCHALL "\n" lines "${text}")
list(LENGTH lines count)
if(count GREATER 60 OR NOT text MATCHES "The bug: [A-Z][^\n]*:\n\n    --- a/" OR NOT text MATCHES "\n    [+] ")
  message(FATAL_ERROR "tools/lab ${LAB}: expected its tests, a sentence and the patch, got ${count} lines:\n${text}")
endif()
