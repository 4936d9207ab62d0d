# Checks without a GPU that kernels contain the instructions that make them fast, in the PTX of nvcc.
#   cmake -DPTX=<file> -DKERNELS=<regular expression> -DINSTRUCTIONS=<regular expression>,... -P <this>
# Every kernel whose mangled name matches KERNELS must contain a match of each of INSTRUCTIONS.

cmake_minimum_required(VERSION 3.24)

file(READ "${PTX}" text)
string(REPLACE ";" " " text "${text}")
string(REPLACE ".entry" ";" entries "${text}")
list(POP_FRONT entries)
list(FILTER entries INCLUDE REGEX "^[^(]*(${KERNELS})")
if(NOT entries)
  message(FATAL_ERROR "${PTX}: expected a kernel '${KERNELS}', got none")
endif()

string(REPLACE "," ";" instructions "${INSTRUCTIONS}")
foreach(entry IN LISTS entries)
  string(REGEX MATCH "^[^(]*" name "${entry}")
  foreach(instruction IN LISTS instructions)
    if(NOT entry MATCHES "${instruction}")
      message(SEND_ERROR "${PTX}: expected '${instruction}' in ${name}, got none")
    endif()
  endforeach()
endforeach()
