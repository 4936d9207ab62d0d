// Grades exercise 7: every class with every combination of up to three operands, against
// amp::decide().
#include "grade.h"

#include <exception>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/amp/policy.h>
#include <halfgrad/halfgrad.h>

#include "exercise.h"
namespace hg = halfgrad;

namespace {

using DTypes = std::vector<hg::DType>;

std::string words(const DTypes& dtypes) {
  std::ostringstream text;
  text << "(";
  for (std::size_t i = 0; i < dtypes.size(); ++i) text << (i == 0 ? "" : ", ") << dtypes[i];
  text << ")";
  return text.str();
}

/// The dtypes that halfgrad's policy chooses for such operands; nothing if it throws.
std::optional<DTypes> expected_dtypes(hg::Precision precision, const DTypes& given,
                                      hg::DType fast) {
  std::vector<hg::Tensor> operands;
  for (const hg::DType dtype : given) operands.push_back(hg::zeros({1}, dtype));
  try {
    const hg::amp::Casts casts =
        hg::amp::decide("op", precision, operands, hg::DeviceType::cpu, fast);
    DTypes read = given;
    for (std::size_t i = 0; i < casts.operands.size(); ++i) {
      if (hg::amp::is_eligible(operands[i], hg::DeviceType::cpu)) read[i] = casts.dtype;
    }
    return read;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

std::optional<DTypes> student_dtypes(hg::Precision precision, const DTypes& given, hg::DType fast) {
  try {
    return read_dtypes(precision, given, fast);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

std::string words(const std::optional<DTypes>& dtypes) {
  return dtypes ? words(*dtypes) : "a std::runtime_error";
}

/// All lists of `count` dtypes.
std::vector<DTypes> all_operands(std::size_t count, hg::DType fast) {
  std::vector<DTypes> lists = {{}};
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<DTypes> longer;
    for (const DTypes& list : lists) {
      for (const hg::DType dtype : {fast, hg::kFloat32, hg::kFloat64, hg::kInt64}) {
        longer.push_back(list);
        longer.back().push_back(dtype);
      }
    }
    lists = longer;
  }
  return lists;
}

void check_class(grade::Grader& grader, hg::Precision precision, hg::DType fast) {
  std::ostringstream check;
  check << hg::name(precision) << " in a region of " << fast;
  for (std::size_t count = 1; count <= 3; ++count) {  // short lists first
    for (const DTypes& given : all_operands(count, fast)) {
      const std::optional<DTypes> expected = expected_dtypes(precision, given, fast);
      const std::optional<DTypes> got = student_dtypes(precision, given, fast);
      if (expected == got) continue;
      grader.yes(check.str(), words(expected) + ", for operands given as " + words(given), false,
                 words(got));
      return;
    }
  }
  grader.yes(check.str(), "the policy of amp::decide()", true);
}

}  // namespace

int main(int argc, char** argv) {
  grade::Grader grader(argc, argv);
  using hg::Precision;
  for (const hg::DType fast : {hg::kHalf, hg::kBFloat16}) {
    for (const Precision precision :
         {Precision::any, Precision::tensor_core, Precision::wide_range, Precision::wide_accumulate,
          Precision::widest_operand, Precision::unsafe}) {
      check_class(grader, precision, fast);
    }
  }
  return grader.finish();
}
