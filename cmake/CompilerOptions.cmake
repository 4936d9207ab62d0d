# Compile options of halfgrad. They apply to this directory and below, so a project that adds halfgrad
# as a subdirectory keeps its own.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_COMPILE_WARNING_AS_ERROR ${HALFGRAD_WERROR})
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

set(warnings -Wall -Wextra)
# g++ 12 warns of overlapping and endless copies in its own std::string (GCC bugs 105329, 105651),
# depending on the processor and on precompiled headers. Its other warnings from optimised code stay
# warnings under HALFGRAD_WERROR.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND warnings -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  foreach(warning IN ITEMS maybe-uninitialized dangling-pointer use-after-free nonnull)
    list(APPEND warnings -Wno-error=${warning})
  endforeach()
endif()
# Without -Wconversion where nvcc calls the compiler: it would warn of code that nvcc has rewritten.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${warnings};-Wconversion;-Wno-sign-conversion>")
list(JOIN warnings "," warnings_of_host)
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${warnings_of_host}>")

# halfgrad neither reads errno after exp nor installs floating-point traps. Both options let loops
# vectorise and change no result. -ffast-math would change results, so it is never used.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno;-fno-trapping-math>")

# For programs whose work is done in the libraries: fully optimising their own code takes longer than
# running it.
set(HALFGRAD_RUNS_ONCE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>")

# halfgrad_precompile(<target> <header>...): precompiles headers for the target's C++ sources. Not with
# a compiler launcher: ccache cannot use precompiled headers, and saves more time. Not in a CUDA
# build: there only nvcc may see engine headers.
if(CMAKE_CXX_COMPILER_LAUNCHER OR HALFGRAD_CUDA)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
function(halfgrad_precompile target)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

if(HALFGRAD_SANITIZE)
  set(sanitize "-fsanitize=${HALFGRAD_SANITIZE}" -fno-sanitize-recover=all)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${sanitize};-fno-omit-frame-pointer>")
  add_link_options(${sanitize})
endif()

# Options that users of the headers must share, because inline SIMD code depends on them: a pack is
# passed in a register if the machine has one wide enough, else in memory, and a function compiled
# both ways would break the one-definition rule. halfgrad::core carries them, also when installed.
# GCC's -Wpsabi reports exactly that difference.
set(HALFGRAD_ABI_OPTIONS -Wno-psabi)
if(HALFGRAD_NATIVE)
  list(APPEND HALFGRAD_ABI_OPTIONS -march=native)
endif()
