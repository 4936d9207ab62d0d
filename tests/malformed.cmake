# write_malformed writes the malformed files of the tests to disk with a manifest, for any reader;
# read_malformed tests halfgrad's readers with them.
foreach(program IN ITEMS write_malformed read_malformed)
  add_executable(${program} tools/${program}.cpp)
  target_link_libraries(${program} PRIVATE halfgrad::halfgrad nlohmann_json::nlohmann_json ZLIB::ZLIB)
  target_compile_options(${program} PRIVATE ${unoptimised})
  add_dependencies(halfgrad_tests ${program})
  add_test(NAME ${program} COMMAND ${program} "${CMAKE_CURRENT_BINARY_DIR}/malformed_files")
endforeach()
set_tests_properties(write_malformed PROPERTIES FIXTURES_SETUP malformed_files)
set_tests_properties(read_malformed PROPERTIES FIXTURES_REQUIRED malformed_files)
