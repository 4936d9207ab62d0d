# Builds the labs of docs/labs.md. For each bug in amp/break_it.h, compiles the sources that mention it with
# the bug, and links them with the tests of amp, before the libraries. At least one test must then fail.
set(folder "${PROJECT_SOURCE_DIR}/amp")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/break_it.h")
file(STRINGS "${folder}/break_it.h" bugs REGEX "^  [a-z_]+,  +//")
list(TRANSFORM bugs REPLACE "^  ([a-z_]+),.*" "\\1")
file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")

file(READ "${PROJECT_SOURCE_DIR}/docs/labs.md" labs)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/labs.md")

add_custom_target(break_it)
add_test(NAME break_it COMMAND "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}" --target break_it)
set_tests_properties(break_it PROPERTIES FIXTURES_SETUP break_it TIMEOUT 600)

foreach(bug IN LISTS bugs)
  if(NOT labs MATCHES "`${bug}`")
    message(SEND_ERROR "docs/labs.md: expected a lab ${bug}, got none")
  endif()
  set(concerned "")
  foreach(source IN LISTS sources)
    file(READ "${source}" text)
    if(text MATCHES "scale_update.h")
      file(READ "${folder}/scale_update.h" formula)
      string(APPEND text "${formula}")
    endif()
    if(text MATCHES "Bug::${bug}[^a-z_]")
      list(APPEND concerned "${source}")
    endif()
  endforeach()
  add_executable(break_${bug} EXCLUDE_FROM_ALL ${concerned} $<TARGET_OBJECTS:test_amp>)
  target_compile_definitions(break_${bug} PRIVATE HALFGRAD_BREAK=${bug} ${definitions})
  target_compile_options(break_${bug} PRIVATE ${unoptimised})
  target_link_libraries(break_${bug} PRIVATE halfgrad::halfgrad GTest::gtest_main)
  target_precompile_headers(break_${bug} REUSE_FROM ${with_headers})
  add_dependencies(break_it break_${bug})
  add_test(NAME break_${bug} COMMAND break_${bug} --gtest_brief=1 --gtest_fail_fast
                                     --gtest_filter=-Traces.*)  # slow, and no lab needs them
  set_tests_properties(break_${bug} PROPERTIES FIXTURES_REQUIRED break_it
                       PASS_REGULAR_EXPRESSION "  FAILED  ")
endforeach()

add_test(NAME lab COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
                          "-DBUILD=${PROJECT_BINARY_DIR}" -DLAB=late_growth
                          -P "${CMAKE_CURRENT_SOURCE_DIR}/tools/lab.cmake")
set_tests_properties(lab PROPERTIES FIXTURES_REQUIRED break_it)
