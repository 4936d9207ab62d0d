// The program of an exam: runs the student's test on one version of the code, and writes whether it
// passed to the file that tools/lesson reads.
#include <stdexcept>
#include <string>

#include "grade.h"

std::string test();  // the student's

int main(int argc, char** argv) {
  grade::Grader grader(argc, argv);
  grader.run("test", [] {
    const std::string says = test();
    if (!says.empty()) throw std::runtime_error(says);
  });
  return grader.finish();
}
