#include <halfgrad/amp/policy.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/tests/amp/scaler/tensors.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad::amp {
namespace {

std::vector<Tensor> operands_of(const std::vector<DType>& dtypes) {
  std::vector<Tensor> operands;
  for (const DType dtype : dtypes) operands.push_back(full({2}, 1, {.dtype = dtype}));
  return operands;
}

struct PolicyCase {
  Precision precision;
  DType fast;
  std::vector<DType> before;
  std::vector<DType> after;  // empty: an error
};

std::string describe(const PolicyCase& c) {
  std::string text = "precision " + std::to_string(static_cast<int>(c.precision)) + ", " +
                     std::string(name(c.fast)) + " region, operands";
  for (const DType dtype : c.before) text += " " + std::string(name(dtype));
  return text;
}

const PolicyCase kPolicyCases[] = {
    {Precision::any, h, {f, h, b, d, i}, {f, h, b, d, i}},
    {Precision::tensor_core, h, {f, h, b, d, i, kBool}, {h, h, h, d, i, kBool}},
    {Precision::tensor_core, b, {f, h, b, d, i}, {b, b, b, d, i}},
    {Precision::wide_range, h, {h, b, f, d, i, kBool}, {f, f, f, d, i, kBool}},
    // The first operand alone decides; an integer or a double turns the rule off.
    {Precision::wide_accumulate, h, {h, h}, {f, h}},
    {Precision::wide_accumulate, h, {b}, {f}},
    {Precision::wide_accumulate, h, {i, h}, {i, h}},
    {Precision::wide_accumulate, h, {d, h}, {d, h}},
    // The scan starts with the region's type, skips doubles and integers, and stops at float32.
    {Precision::widest_operand, h, {h, h}, {h, h}},
    {Precision::widest_operand, h, {h, f}, {f, f}},
    {Precision::widest_operand, h, {f, h, h}, {f, f, f}},
    {Precision::widest_operand, h, {d, h}, {d, h}},
    {Precision::widest_operand, h, {d, f, h, i}, {d, f, f, i}},
    {Precision::widest_operand, b, {b, b}, {b, b}},
    {Precision::widest_operand, h, {b, b}, {}},
    {Precision::widest_operand, b, {h, h}, {}},
    {Precision::widest_operand, h, {b, f}, {}},
    {Precision::widest_operand, h, {f, b}, {f, f}},
    {Precision::unsafe, h, {f, f}, {}},
    {Precision::unsafe, h, {d, d}, {}},
};

TEST(Policy, CastsByPrecision) {
  for (const PolicyCase& c : kPolicyCases) {
    SCOPED_TRACE(describe(c));
    std::vector<Tensor> operands = operands_of(c.before);
    const Autocast autocast(default_device_type(), c.fast);
    if (c.after.empty()) {
      EXPECT_THROW(halfgrad::detail::cast_operands("op", c.precision, operands),
                   std::runtime_error);
      continue;
    }
    halfgrad::detail::cast_operands("op", c.precision, operands);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      EXPECT_EQ(operands[k].dtype(), c.after[k]) << "operand " << k;
    }
  }
}

TEST(Policy, DisabledRegionCastsNothing) {
  for (const PolicyCase& c : kPolicyCases) {
    SCOPED_TRACE(describe(c));
    std::vector<Tensor> operands = operands_of(c.before);
    const Autocast autocast(default_device_type(), c.fast, false);
    halfgrad::detail::cast_operands("op", c.precision, operands);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      EXPECT_EQ(operands[k].dtype(), c.before[k]) << "operand " << k;
    }
  }
}

TEST(Policy, OmittedOperandsStayOmitted) {
  std::vector<Tensor> operands = operands_of({f, f});
  operands[1] = Tensor();
  const Autocast autocast(default_device_type());
  halfgrad::detail::cast_operands("linear", Precision::tensor_core, operands);
  EXPECT_EQ(operands[0].dtype(), h);
  EXPECT_FALSE(operands[1].defined());
}

// Only tensors on the region's device type are cast: a CUDA region leaves a CPU tensor alone.
TEST(Policy, EligibleOnItsDeviceTypeOnly) {
  const Tensor on_cpu = full({2}, 1.0, {.device = Device()});
  EXPECT_TRUE(is_eligible(on_cpu, kCPU));
  EXPECT_FALSE(is_eligible(on_cpu, kCUDA));
  EXPECT_FALSE(is_eligible(Tensor(), default_device_type()));
}

TEST(Policy, RefusalNamesTheSafeVariant) {
  std::vector<Tensor> operands = operands_of({f, f});
  try {
    decide("binary_cross_entropy", Precision::unsafe, operands, default_device_type(), h);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("binary_cross_entropy_with_logits"),
              std::string::npos);
  }
}

TEST(Policy, OtherDeviceTypesAreNotCast) {
  for (const Precision precision :
       {Precision::tensor_core, Precision::wide_range, Precision::wide_accumulate,
        Precision::widest_operand, Precision::unsafe}) {
    std::vector<Tensor> operands = operands_of({b, h});
    const DeviceType other = other_device_type();
    const Casts casts = decide("op", precision, operands, other, h);
    for (const Tensor& operand : casts.operands) EXPECT_FALSE(is_eligible(operand, other));
  }
}

}  // namespace
}  // namespace halfgrad::amp
