# <halfgrad/eigen.h>, where Eigen is installed; elsewhere ctest shows the test as skipped.
if(TARGET Eigen3::Eigen)
  file(GLOB sources CONFIGURE_DEPENDS "eigen/*.cpp")
  add_executable(test_eigen ${sources} main.cpp)
  target_link_libraries(test_eigen PRIVATE halfgrad::halfgrad Eigen3::Eigen GTest::gtest)
  # g++ 12 warns of uninitialised variables in the AVX-512 intrinsics that Eigen calls.
  target_compile_options(
    test_eigen PRIVATE ${unoptimised}
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>)
  add_dependencies(halfgrad_tests test_eigen)
  add_test(NAME eigen COMMAND test_eigen)
else()
  add_test(NAME eigen COMMAND "${CMAKE_COMMAND}" -E echo "SKIPPED: expected Eigen 3.4, found none")
  set_tests_properties(eigen PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
endif()
