#include <halfgrad/emulator/command/google_tests.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include <halfgrad/emulator/command/in_parallel.h>
#include <halfgrad/emulator/command/mutant_run.h>

namespace halfgrad::emulator {
namespace {

using Json = nlohmann::json;

std::vector<std::string> names_in(const Json& list) {
  std::vector<std::string> names;
  for (const Json& suite : list.at("testsuites")) {
    for (const Json& test : suite.at("testsuite")) {
      const std::string name =
          suite.at("name").get<std::string>() + "." + test.at("name").get<std::string>();
      if (name.find("DISABLED_") == std::string::npos) names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> listed_tests(const CommandOptions& options) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("halfgrad-tests-" + std::to_string(::getpid()) + ".json");
  std::vector<std::string> program = options.program;
  program.emplace_back("--gtest_list_tests");
  program.push_back("--gtest_output=json:" + file.string());
  run_mutant(options, program, "", {.silent = true});
  const Json list = Json::parse(std::ifstream(file), nullptr, false);
  std::filesystem::remove(file);
  std::vector<std::string> names;
  if (!list.is_discarded()) names = names_in(list);
  if (names.empty()) {
    throw std::runtime_error("--gtest: expected a program that lists tests of GoogleTest, got " +
                             options.program[0]);
  }
  return names;
}

}  // namespace

std::vector<GoogleTest> google_tests(const CommandOptions& options) {
  const std::vector<std::string> names = listed_tests(options);
  std::fprintf(stderr, "halfgrad-emulate: runs each of %zu tests alone\n", names.size());
  std::vector<GoogleTest> tests(names.size());
  std::mutex mutex;
  std::size_t done = 0;
  in_parallel(names.size(), options.jobs, [&](std::size_t i) {
    const MutantRun run =
        run_mutant(options, with_tests(options.program, {names[i]}), "", {.silent = true});
    if (run.passed()) tests[i] = {names[i], run.seconds, run.mutants()};
    const std::scoped_lock lock(mutex);
    ++done;
    if (!run.passed()) {
      std::fprintf(stderr, "halfgrad-emulate: %s does not pass alone, and is left out\n",
                   names[i].c_str());
    } else if (done % 100 == 0) {
      std::fprintf(stderr, "halfgrad-emulate: %zu of %zu tests\n", done, names.size());
    }
  });
  std::erase_if(tests, [](const GoogleTest& test) { return test.name.empty(); });
  return tests;
}

std::vector<std::string> with_tests(const std::vector<std::string>& program,
                                    const std::vector<std::string>& names) {
  std::string filter;
  for (const std::string& name : names) filter += (filter.empty() ? "" : ":") + name;
  std::vector<std::string> result = program;
  result.push_back("--gtest_filter=" + filter);
  result.emplace_back("--gtest_fail_fast");
  return result;
}

}  // namespace halfgrad::emulator
