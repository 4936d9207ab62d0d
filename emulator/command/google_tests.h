#pragma once

#include <set>
#include <string>
#include <vector>

#include <halfgrad/emulator/command/options.h>
#include <halfgrad/emulator/ptx/mutation.h>

namespace halfgrad::emulator {

/// A test of a program of GoogleTest.
struct GoogleTest {
  std::string name;          ///< "Suite.Test"
  double seconds = 0;        ///< a run of this test alone takes
  std::set<Mutant> mutants;  ///< changes of the kernel lines that it executes
};

/// Runs each test that the program lists alone, options.jobs at a time. Names those that do not
/// pass alone on stderr, and leaves them out. Throws std::runtime_error if the program lists no
/// test.
std::vector<GoogleTest> google_tests(const CommandOptions& options);

/// The program with the arguments that choose some of its tests, and end it at the first failure.
std::vector<std::string> with_tests(const std::vector<std::string>& program,
                                    const std::vector<std::string>& names);

}  // namespace halfgrad::emulator
