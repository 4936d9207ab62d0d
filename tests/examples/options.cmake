# Wrong options of the programs in -DFOLDER are refused in a line, with a status that says so.
cmake_minimum_required(VERSION 3.24)

function(expect_refused program pattern)
  execute_process(COMMAND "${FOLDER}/${program}" ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text
                  ERROR_VARIABLE text TIMEOUT 60)
  string(LENGTH "${text}" length)
  if(NOT status MATCHES "^[0-9]+$" OR status EQUAL 0 OR NOT text MATCHES "${pattern}" OR
     length GREATER 300)
    message(FATAL_ERROR "${program} ${ARGN}: expected to be refused in a line with '${pattern}', got "
                        "${status} and\n${text}")
  endif()
endfunction()

foreach(program IN ITEMS amp_loops async_optimizer loss_scalers train_step verify_resume)
  foreach(steps IN ITEMS 0 -1 nan)
    expect_refused(${program} "--steps: .*${steps}" --steps ${steps})
  endforeach()
endforeach()
expect_refused(async_optimizer "--hidden" --hidden 2000000000)

expect_refused(verify_resume "--to requires" --to 3)
expect_refused(verify_resume "--to" --to -3)
expect_refused(verify_resume "requires --to" --save file)
expect_refused(verify_resume "requires --to" --complete-at 2)
expect_refused(verify_resume "got the folder" --mode fp32 --to 3 --save "${CMAKE_CURRENT_LIST_DIR}")
expect_refused(verify_resume "create the folder missing first" --mode fp32 --to 3 --save missing/file)
