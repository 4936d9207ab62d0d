# Runs -DPROGRAM=halfgrad-number: a journey's fields, and exit code 2 for what is not a number.
function(expect_outcome code pattern)
  if(NOT code EQUAL "${status}" OR NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "halfgrad-number: expected exit code ${code} and '${pattern}', got ${status} and\n"
                        "${text}")
  endif()
endfunction()

execute_process(COMMAND "${PROGRAM}" 0.1 RESULT_VARIABLE status OUTPUT_VARIABLE text)
expect_outcome(0 "0x2e66  0 01011 1001100110")
execute_process(COMMAND "${PROGRAM}" RESULT_VARIABLE status ERROR_VARIABLE text)
expect_outcome(2 "numbers is required")
execute_process(COMMAND "${PROGRAM}" 1e-320 RESULT_VARIABLE status OUTPUT_VARIABLE text)
expect_outcome(0 "^9.9998886718268301e-321")
foreach(number IN ITEMS "" 1x 1e-400 1e400)
  execute_process(COMMAND "${PROGRAM}" "${number}" RESULT_VARIABLE status ERROR_VARIABLE text)
  expect_outcome(2 "expected a number, got \"${number}\"")
endforeach()
