// Grades exercise 10: compiles the student's CUDA source with harness.h, runs it under
// halfgrad-emulate, and compares the counters of its kernels with what they need.
#include "grade.h"

#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

namespace {

namespace fs = std::filesystem;
using grade::Grader;

struct Outcome {
  int status = -1;
  std::string output;
};

Outcome run(const std::string& command) {
  Outcome outcome;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  char text[512];
  while (std::fgets(text, sizeof text, pipe) != nullptr) outcome.output += text;
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

std::string quoted(const fs::path& path) { return "'" + path.string() + "'"; }

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Size {
  int m, n, k;
  std::string text() const {
    return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
  }
  double products() const { return static_cast<double>(m) * n * k; }
};

class Student {
 public:
  Student()
      : folder_(fs::current_path()),
        source_(environment("LESSON_FILE")),
        build_(environment("LESSON_BUILD")) {}

  /// Returns what the compiler says, "" if all is well. The exercise's headers are in the folder.
  std::string compile() const {
    std::ofstream(folder_ / "main.cu") << "#include \"harness.h\"\n";
    const Outcome outcome =
        run("PATH=\"$PATH:/usr/local/cuda/bin\" nvcc -std=c++17 -cudart shared -lineinfo -gencode "
            "arch=compute_80,code=compute_80 -I " +
            quoted(folder_) + " " + quoted(folder_ / "main.cu") + " " + quoted(source_) + " -o " +
            quoted(folder_ / "program"));
    return outcome.status == 0 ? "" : outcome.output.substr(0, 600);
  }

  /// Runs one product and keeps the report of its kernels.
  Outcome multiply(const Size& size, std::uint64_t seed) {
    const fs::path file = folder_ / "report.json";
    fs::remove(file);
    const Outcome outcome = run(quoted(build_ / "bin" / "halfgrad-emulate") + " --quiet --json " +
                                quoted(file) + " " + quoted(folder_ / "program") + " " +
                                std::to_string(size.m) + " " + std::to_string(size.n) + " " +
                                std::to_string(size.k) + " " + std::to_string(seed % 1000));
    std::ifstream json(file);
    report_ = nlohmann::json::parse(json, nullptr, false);
    return outcome;
  }

  /// The first finding of the last run, "" if there is none.
  std::string finding() const {
    if (report_.is_discarded()) return "no report: the emulator did not run";
    for (const auto& finding : report_.at("findings")) {
      if (finding.at("severity") == "error") return finding.at("text").get<std::string>();
    }
    return "";
  }

  /// A counter of all kernels of the last run.
  double counter(const char* name) const {
    double sum = 0;
    if (report_.is_discarded()) return -1;
    for (const auto& launch : report_.at("launches")) {
      sum += launch.at("total").at(name).get<double>();
    }
    return sum;
  }

 private:
  fs::path folder_, source_, build_;
  nlohmann::json report_;
};

void check_results(Grader& grader, Student& student, const Size& size) {
  const Outcome outcome = student.multiply(size, grader.seed());
  grader.yes("the product of " + size.text(), "y as the definition has it",
             outcome.output.find("right") != std::string::npos,
             "status " + std::to_string(outcome.status) + ": " + outcome.output.substr(0, 200));
  const std::string finding = student.finding();
  grader.yes("no finding for " + size.text(), "no race and no access out of bounds",
             finding.empty(), finding.substr(0, 400));
}

void check_counters(Grader& grader, Student& student) {
  const Size size{64, 64, 64};
  student.multiply(size, grader.seed());
  const auto at_most = [&](const std::string& name, const char* counter, double most,
                           const std::string& hint) {
    grader.hint(hint);
    const double got = student.counter(counter);
    grader.yes(name + " for " + size.text(), "at most " + grade::shown(most) + " " + counter,
               got >= 0 && got <= most, grade::shown(got));
  };
  at_most("global memory is read a few times only", "bytes_loaded", 65536,
          "x and w have 16,384 bytes; with tiles of 32 x 32 each is read twice.");
  const double needed = student.counter("sectors_needed");
  at_most("accesses are coalesced", "sectors", std::floor(1.1 * needed),
          "Do the lanes of a warp access neighbouring elements? They need " + grade::shown(needed) +
              " sectors.");
  const double flops = student.counter("flops"), all = 2 * size.products();
  grader.hint("wmma::mma_sync of 16 x 16 x 16 is 8192 FLOPs.");
  grader.yes("tensor cores compute all of it", grade::shown(all) + " flops", flops == all,
             grade::shown(flops));
  at_most("no bank conflicts", "bank_conflicts", 0,
          "Are the rows of the tiles padded? Try distances of 40, 48 and 56 elements.");
}

}  // namespace

int main(int argc, char** argv) {
  Grader grader(argc, argv);
  Student student;
  const std::string says = student.compile();
  grader.yes("nvcc compiles the file", "no error", says.empty(), says);
  if (says.empty()) {
    for (const Size& size : {Size{32, 32, 32}, Size{64, 96, 32}, Size{96, 32, 128}}) {
      check_results(grader, student, size);
    }
    check_counters(grader, student);
  }
  return grader.finish();
}
