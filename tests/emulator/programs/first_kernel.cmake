# Checks the session of docs/emulator.md: runs -DPROGRAM=first_kernel by -DEMULATE=halfgrad-emulate. Writes its
# page to -DPAGE, which is removed.
cmake_minimum_required(VERSION 3.24)

function(expect code)
  execute_process(COMMAND "${EMULATE}" --report "${PAGE}" "${PROGRAM}" ${options}
                  RESULT_VARIABLE got OUTPUT_VARIABLE text ERROR_VARIABLE text)
  file(READ "${PAGE}" page)
  foreach(pattern IN LISTS ARGN)
    if(NOT got EQUAL code OR NOT "${text}${page}" MATCHES "${pattern}")
      message(FATAL_ERROR "first_kernel ${options}: expected ${code} and '${pattern}', got ${got} and\n${text}${page}")
    endif()
  endforeach()
endfunction()

set(options "")
expect(1 "error: race: [^\n]*\n[^\n]*first_kernel.cu:33: ld.shared"
         "error: out-of-bounds: load of 4 bytes [^\n]*38400 bytes" "first_kernel.cu:28: ld.global" " 0 notes in 1 launch")
set(options --rows 256)
expect(1 "4 errors, 0 notes in 1 launch" "<td class=\"bad\">12,288</td><td>1,536</td>"
         "<pre class=\"source\">36  sums.row. = sum - largest.0.;</pre>")
set(options --fixed)
expect(0 "0 errors, 0 notes in 1 launch" "<p>None.</p>" "<td>1,200</td><td>1,200</td>")
file(REMOVE "${PAGE}")

# Mutants of the right kernel: a barrier that is left out is a race. The data do not notice that one comparison is
# wrong: the largest sum of a block is not in the row that it leaves out.
function(expect_mutants code)
  execute_process(COMMAND "${EMULATE}" ${options} "${PROGRAM}" --fixed RESULT_VARIABLE got OUTPUT_VARIABLE text ERROR_VARIABLE text)
  foreach(pattern IN LISTS ARGN)
    if(NOT got EQUAL code OR NOT text MATCHES "${pattern}")
      message(FATAL_ERROR "${options}: expected ${code} and '${pattern}', got ${got} and\n${text}")
    endif()
  endforeach()
endfunction()

set(options --mutants=barrier)
expect_mutants(0 "barrier +[^\n]*first_kernel.cu:52  found: [a-z]" "barrier +[^\n]*first_kernel.cu:57  found: race"
               "2 of 2 mutants were found\n")
set(options --mutants)
expect_mutants(9 "bound +[^\n]*first_kernel.cu:43  found: out-of-bounds" "nothing noticed these:\n"
               "bound +[^\n]*first_kernel.cu:53\n      if .threadIdx.x < half. {")
set(options --mutate barrier:first_kernel.cu:57)
expect_mutants(9 "error: race: " "errors*, 0 notes in 1 launch")
set(options --mutate store:first_kernel.cu:57)
expect_mutants(1 "expected a line with such an instruction that the program executes")
set(options --mutate barrier:57)
expect_mutants(2 "expected KIND:FILE:LINE")
set(options --mutants=nothing.cu)
expect_mutants(10 "expected a kernel line that a mutant changes")
