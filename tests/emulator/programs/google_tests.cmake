# Runs -DEMULATE=halfgrad-emulate --mutants on -DPROGRAM, which stands for a program of GoogleTest, by -DPYTHON.
# Writes to -DFOLDER.
cmake_minimum_required(VERSION 3.24)

file(REMOVE_RECURSE "${FOLDER}")
file(WRITE "${FOLDER}/lib/libcudart.so.13" "")
set(ENV{HALFGRAD_EMULATOR_LIBRARIES} "${FOLDER}/lib")
set(ENV{CALLS} "${FOLDER}/calls")
function(expect code)
  file(WRITE "${FOLDER}/calls" "")
  execute_process(COMMAND "${EMULATE}" ${options} "${PYTHON}" "${PROGRAM}" ${arguments}
                  RESULT_VARIABLE got OUTPUT_VARIABLE text ERROR_VARIABLE text)
  file(READ "${FOLDER}/calls" calls)
  foreach(pattern IN LISTS ARGN)
    if(NOT got EQUAL code OR NOT "${text}${calls}" MATCHES "${pattern}")
      message(FATAL_ERROR "${options}: expected ${code} and '${pattern}', got ${got} and\n${text}${calls}")
    endif()
  endforeach()
endfunction()

# Each mutant runs only the tests that execute its line. One test doesn't pass alone: the mutant of its line runs
# the whole program.
foreach(jobs IN ITEMS 1 3)
  set(options --mutants --gtest --jobs ${jobs} --json "${FOLDER}/mutants.json")
  expect(9 "runs each of 3 tests alone" "Sum.NeedsOthers does not pass alone" "3 of 4 mutants were found"
         "bound +/src/sum.cu:3  found: exit code 1" "sign +/src/sum.cu:5  NOT FOUND by 1 test\n"
         "extremum +/src/sum.cu:6  found: exit code 1" "bound:/src/sum.cu:3 Sum.Rows\n"
         "store:/src/sum.cu:4 Sum.[A-Za-z]+\n" "sign:/src/sum.cu:5 Sum.Columns\n" "extremum:/src/sum.cu:6 Sum.Rows Sum")
  if(calls MATCHES "bound:[^ ]* [^\n]*Columns|sign:[^ ]* [^\n]*Rows")
    message(FATAL_ERROR "--gtest: expected only tests that execute the line, got\n${calls}")
  endif()
endforeach()
file(READ "${FOLDER}/mutants.json" json)
string(JSON tests GET "${json}" mutants 1 tests)
string(JSON file GET "${json}" mutants 1 file)
string(JSON line GET "${json}" mutants 1 line)
if(NOT "${file}:${line} ${tests}" STREQUAL "/src/sum.cu:4 2")
  message(FATAL_ERROR "--json: expected 2 tests of line 4, got\n${json}")
endif()

# Without --gtest each mutant runs the whole program.
set(options --mutants)
expect(9 "3 of 4 mutants were found" "bound:/src/sum.cu:3 Sum.Rows Sum.Columns Sum.NeedsOthers")
set(options --mutants --gtest)
set(arguments --none)
expect(1 "--gtest: expected a program that lists tests of GoogleTest, got")
set(arguments "")
set(options --gtest)
expect(2 "--gtest requires --mutants")
set(options --mutants --jobs 0)
expect(2 "--jobs")
file(REMOVE_RECURSE "${FOLDER}")
