# How everything of ours is compiled. The options are those of this directory and below, so a project
# that adds halfgrad as a subdirectory keeps its own.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_COMPILE_WARNING_AS_ERROR ${HALFGRAD_WERROR})
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

set(warnings -Wall -Wextra -Wconversion -Wno-sign-conversion)
# g++ 12 sees overlapping copies in its own std::string (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND warnings -Wno-restrict)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")

# Nobody reads errno after exp or installs floating-point traps. Neither option changes a result, and
# both let loops vectorise. -ffast-math would change results, and never appears here.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno;-fno-trapping-math>")

if(HALFGRAD_SANITIZE)
  set(sanitize "-fsanitize=${HALFGRAD_SANITIZE}" -fno-sanitize-recover=all)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${sanitize};-fno-omit-frame-pointer>")
  add_link_options(${sanitize})
endif()

# Options that users of the headers must share, since inline SIMD code depends on them: a pack is
# passed in a register where the machine has a wide one, in memory elsewhere, and a function compiled
# both ways would break the one-definition rule. They travel with halfgrad::core, also when installed.
# GCC's -Wpsabi reports just that choice.
set(HALFGRAD_ABI_OPTIONS -Wno-psabi)
if(HALFGRAD_NATIVE)
  list(APPEND HALFGRAD_ABI_OPTIONS -march=native)
endif()
