# The folders of the library, each a target, and the options that leave some of them out.

option(HALFGRAD_DATA "Build halfgrad::data: data sets, CSV files and loaders" ON)
option(HALFGRAD_IO "Build halfgrad::io: safetensors, NumPy files and checkpoints; testing needs it" ON)
option(HALFGRAD_DIST "Build halfgrad::dist: data parallel training; needs data and io" ON)
option(HALFGRAD_TESTING "Build halfgrad::testing: the kernel checker" ON)

# In the order of dependencies: each folder links only folders to its left.
set(HALFGRAD_FOLDERS core files autograd nn optim amp async data io dist compat testing report)
set(HALFGRAD_LEFT_OUT "")
if(NOT HALFGRAD_DATA)
  list(APPEND HALFGRAD_LEFT_OUT data dist compat)
endif()
if(NOT HALFGRAD_IO)
  list(APPEND HALFGRAD_LEFT_OUT io dist compat testing)
endif()
if(NOT HALFGRAD_DIST)
  list(APPEND HALFGRAD_LEFT_OUT dist)
endif()
if(NOT HALFGRAD_TESTING)
  list(APPEND HALFGRAD_LEFT_OUT testing)
endif()

# The programs, tests and bindings use every folder. They are built by default if halfgrad is no
# subdirectory and no folder is left out.
set(HALFGRAD_BUILDS_PROGRAMS ${PROJECT_IS_TOP_LEVEL})
if(HALFGRAD_LEFT_OUT)
  list(REMOVE_DUPLICATES HALFGRAD_LEFT_OUT)
  list(REMOVE_ITEM HALFGRAD_FOLDERS ${HALFGRAD_LEFT_OUT})
  set(HALFGRAD_BUILDS_PROGRAMS OFF)
endif()

# Refuses to build programs without a folder that they use.
function(halfgrad_check_folders)
  if(NOT HALFGRAD_LEFT_OUT)
    return()
  endif()
  list(JOIN HALFGRAD_LEFT_OUT ", " names)
  foreach(part IN ITEMS TESTS EXAMPLES TOOLS BENCH PYTHON)
    if(HALFGRAD_${part})
      message(FATAL_ERROR "halfgrad: expected HALFGRAD_${part}=OFF without ${names}, got ON")
    endif()
  endforeach()
  message(STATUS "halfgrad: left out: ${names}")
endfunction()
