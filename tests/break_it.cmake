# The labs: labs/<name>/change.patch puts a bug of the field into copies of the sources that it names.
# The copies are compiled and linked, before the libraries, with the tests of their folder into
# break_<name>. The test that labs/<name>/answer.md names must then fail. labs/<name>/tests is optional:
# another folder of tests, and the filter of the tests that see the bug, for tools/lab. A copy of a CUDA
# source becomes a program, which the tests of test_kernels run by the emulator.
find_program(HALFGRAD_PATCH patch REQUIRED DOC "The command that applies the patches of labs/")
file(GLOB patches CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/labs/*/change.patch")

add_custom_target(break_it)
add_test(NAME break_it COMMAND "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}" --target break_it)
set_tests_properties(break_it PROPERTIES FIXTURES_SETUP break_it TIMEOUT 1800)

foreach(patch IN LISTS patches)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${patch}")
  cmake_path(GET patch PARENT_PATH lab)
  cmake_path(GET lab FILENAME lab)
  file(STRINGS "${patch}" names REGEX "^[+][+][+] b/")
  list(TRANSFORM names REPLACE "^[+][+][+] b/" "")
  list(GET names 0 folder)
  string(REGEX REPLACE "/.*" "" folder "${folder}")
  cmake_path(REPLACE_FILENAME patch tests OUTPUT_VARIABLE tests)
  if(EXISTS "${tests}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${tests}")
    file(STRINGS "${tests}" tests LIMIT_COUNT 1)
    string(REGEX MATCH "^([a-z]+) (.+)$" tests "${tests}")
    set(folder "${CMAKE_MATCH_1}")
  endif()
  cmake_path(REPLACE_FILENAME patch answer.md OUTPUT_VARIABLE answer)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${answer}")
  file(STRINGS "${answer}" test REGEX "^`[A-Za-z]+\\.[A-Za-z0-9]+`" LIMIT_COUNT 1)
  string(REGEX MATCH "[A-Za-z]+\\.[A-Za-z0-9]+" test "${test}")
  if(NOT TARGET test_${folder})
    continue()  # without nvcc
  endif()
  set(copies_folder "${CMAKE_CURRENT_BINARY_DIR}/labs/${lab}")
  list(TRANSFORM names PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE originals)
  list(TRANSFORM names PREPEND "${copies_folder}/" OUTPUT_VARIABLE copies)
  list(JOIN names "," files)
  add_custom_command(OUTPUT ${copies}
                     COMMAND "${CMAKE_COMMAND}" "-DPATCH=${HALFGRAD_PATCH}" "-DCHANGE=${patch}"
                             "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DCOPIES=${copies_folder}"
                             "-DFILES=${files}" -P "${CMAKE_CURRENT_SOURCE_DIR}/tools/apply_lab.cmake"
                     DEPENDS "${patch}" ${originals} tools/apply_lab.cmake
                     VERBATIM)
  if(folder STREQUAL "kernels")
    cmake_path(GET copies STEM program)
    halfgrad_lab_kernel("${copies_folder}/${program}" "${copies}")
    set(folder_source "${copies_folder}_kernel_folder.cpp")
    file(CONFIGURE OUTPUT "${folder_source}" @ONLY CONTENT [[
#include <halfgrad/tests/kernels/kernel_folder.h>
std::filesystem::path halfgrad::tests::kernel_folder() { return "@copies_folder@"; }
]])
    set(copies "${folder_source}" "${copies_folder}/${program}")
  endif()
  add_executable(break_${lab} EXCLUDE_FROM_ALL ${copies} $<TARGET_OBJECTS:test_${folder}>)
  target_compile_definitions(break_${lab} PRIVATE ${definitions})
  target_compile_options(break_${lab} PRIVATE ${unoptimised})
  target_link_libraries(break_${lab} PRIVATE $<TARGET_NAME_IF_EXISTS:halfgrad::${folder}>
                                             halfgrad::halfgrad GTest::gtest_main)
  # The copy's functions come first. Those of the library may be in one object file with others that
  # are needed, because several sources are compiled as one.
  target_link_options(break_${lab} PRIVATE "LINKER:-z,muldefs")
  target_precompile_headers(break_${lab} REUSE_FROM ${with_headers})
  add_dependencies(break_it break_${lab})
  # Typed and parameterised tests have a name such as Suite/0.Test or Devices/Suite.Test/cpu.
  string(REPLACE "." "*." filter "*${test}*")
  add_test(NAME break_${lab} COMMAND break_${lab} --gtest_brief=1 --gtest_fail_fast
                                     "--gtest_filter=${filter}")
  set_tests_properties(break_${lab} PROPERTIES FIXTURES_REQUIRED break_it
                       PASS_REGULAR_EXPRESSION "  FAILED  ")
endforeach()

# Needs no compiler: every patch applies to the present sources, and docs/labs.md lists every lab.
add_test(NAME labs COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
                           "-DPATCH=${HALFGRAD_PATCH}"
                           "-DCOPIES=${CMAKE_CURRENT_BINARY_DIR}/labs/every patch"
                           -P "${CMAKE_CURRENT_SOURCE_DIR}/tools/labs.cmake")
add_test(NAME lab COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
                          "-DBUILD=${PROJECT_BINARY_DIR}" -DLAB=late_growth
                          -P "${CMAKE_CURRENT_SOURCE_DIR}/tools/lab.cmake")
set_tests_properties(lab PROPERTIES FIXTURES_REQUIRED break_it)
