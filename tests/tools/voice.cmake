# tools/voice finds each offence in a file, with its line, and passes plain words.
# Run with -DPYTHON=python3 -DPROGRAM=tools/voice -DFOLDER=folder, which is made and removed.
cmake_minimum_required(VERSION 3.24)
file(MAKE_DIRECTORY "${FOLDER}")

function(expect_voice name text status)
  file(WRITE "${FOLDER}/${name}" "${text}")
  execute_process(COMMAND "${PYTHON}" "${PROGRAM}" "${FOLDER}/${name}" RESULT_VARIABLE got ERROR_VARIABLE err)
  if(NOT got EQUAL status)
    message(FATAL_ERROR "tools/voice ${name}: expected exit code ${status}, got ${got}\n${err}")
  endif()
  foreach(pattern IN LISTS ARGN)
    if(NOT err MATCHES "${pattern}")
      message(FATAL_ERROR "tools/voice ${name}: expected '${pattern}', got\n${err}")
    endif()
  endforeach()
endfunction()

expect_voice(plain.h "/// Returns the sum of the elements.\n/// That is all.\nint sum();  // Theirs, roomy\n" 0)
expect_voice(plain.py "# Adds two values.\nprint('#')\n" 0)
expect_voice(plain.md "Verdicts in code stay: `verdict`.\n\n```cpp\nint verdict;\n```\n" 1 "md:1: 'Verdicts' stands for")
expect_voice(openings.h "int a;  ///< of the list\n\n// Which bias\n// is added.\n/* Those rows */\n" 1
             "h:1: a comment opens with 'of'" "h:3: a comment opens with 'Which'"
             "h:5: a comment opens with 'Those'" "got 3")
expect_voice(openings.cmake "# What the test says.\nset(a b) # beyond it\n" 1 "cmake:1: " "cmake:2: " "got 2")
expect_voice(words.cpp "// Adds the numbers.\nthrow error(\"no room\");\nint first_verdict, QuickPath, their_rooms;\n" 1
             "cpp:1: 'numbers' stands for" "cpp:2: 'room' stands for" "cpp:3: the name first_verdict"
             "cpp:3: the name QuickPath" "cpp:3: the name their_rooms" "got 5")
expect_voice(phrases.cpp "// Draws random numbers.\n" 0)
file(REMOVE_RECURSE "${FOLDER}")
