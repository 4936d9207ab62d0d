#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/tests/amp/autocast/op_calls.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/json.h>

/// The dtype of every op's result in a float16 region, from operands of any dtype: PyTorch's under
/// CUDA autocast. The operands are 4 x 4 ones.
namespace halfgrad {
namespace {

using op_calls::kOps;
using op_calls::Op;
using op_calls::Operands;
using tests::Json;

const std::map<char, DType> kLetters{{'h', kHalf},   {'b', kBFloat16}, {'f', kFloat},
                                     {'d', kDouble}, {'i', kLong},     {'?', kBool}};

char letter_of(DType dtype) {
  for (const auto& [letter, named] : kLetters) {
    if (named == dtype) return letter;
  }
  throw std::logic_error("letter_of: expected a dtype of the file, got " +
                         std::string(name(dtype)));
}

// "error", or the letter of the result's dtype.
std::string output_of(const Op& op, const std::string& inputs) {
  Operands operands;
  for (const char letter : inputs) operands.push_back(op_calls::ones({4, 4}, kLetters.at(letter)));
  try {
    const amp::Autocast autocast(default_device_type());
    return {letter_of(op(operands).dtype())};
  } catch (const std::logic_error&) {
    return "error";
  } catch (const std::runtime_error&) {
    return "error";
  }
}

/// Rows in which this library differs from PyTorch on purpose.
const std::map<std::string, std::string> kOurs{
    // PyTorch computes in the target's memory and so narrows float64 logits to the target's type.
    {"bce_with_logits of dh", "d"},
    {"bce_with_logits of db", "d"},
    {"bce_with_logits of df", "d"},
};

TEST(AutocastDTypes, EqualPyTorchs) {
  const Json expected = tests::expected("autocast_dtypes.json");
  ASSERT_EQ(expected["cases"].size(), 1122);
  std::set<std::string> checked;
  std::size_t exceptions = 0;
  for (const Json& row : expected["cases"].items) {
    const std::string& op = row["op"].text;
    const auto ours = kOps.find(op);
    if (ours == kOps.end()) {
      ADD_FAILURE() << op << " is not in the table";
      continue;
    }
    const std::string& inputs = row["inputs"].text;
    const std::string call = op + " of " + inputs;
    const std::string& pytorch = row["output"].text;
    const auto exception = kOurs.find(call);
    const std::string& wanted = exception == kOurs.end() ? pytorch : exception->second;
    EXPECT_EQ(output_of(ours->second, inputs), wanted) << call;
    exceptions += wanted == pytorch ? 0 : 1;
    checked.insert(op);
  }
  EXPECT_EQ(checked.size(), kOps.size());
  EXPECT_EQ(exceptions, kOurs.size());
}

}  // namespace
}  // namespace halfgrad
