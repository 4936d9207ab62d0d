#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/tests/testing/audit/rules.h>
#include <halfgrad/tests/testing/planted/call.h>

namespace halfgrad::testing::audit {
namespace {

using planted::Call;
using planted::called;
using planted::dot_of;
using planted::each;
using planted::norm_row;
using planted::products;
using planted::rows;
using planted::softmax_row;

constexpr auto kSarkar = "Sarkar 2026", kIssue165 = "KernelBench #165",
               kReplay = "reference-kernels #142", kOwn = "our own";
constexpr Dims kRows{16, 1, 16384}, kLongRows{4, 1, 65536}, kProducts{64, 200, 512},
    kElements{64, 256, 256};

float logistic(float x) { return 1 / (1 + std::exp(-x)); }

/// Softmax of a row that is padded to a multiple of `block` with zeros, which count.
void softmax_padded(const Call& c, std::int64_t row, std::int64_t block) {
  const std::int64_t padded = (c.k + block - 1) / block * block;
  float most = padded > c.k ? 0 : -std::numeric_limits<float>::infinity();
  for (std::int64_t i = 0; i < c.k; ++i) most = std::fmax(most, c.x(row, i));
  float sum = static_cast<float>(padded - c.k) * std::exp(-most);
  for (std::int64_t i = 0; i < c.k; ++i) sum += std::exp(c.x(row, i) - most);
  for (std::int64_t i = 0; i < c.k; ++i) c.y(row * c.k + i, std::exp(c.x(row, i) - most) / sum);
}

std::int64_t power_of_two_from(std::int64_t k) {
  std::int64_t power = 1;
  while (power < k) power *= 2;
  return power;
}

void rms_norm_row(const Call& c, std::int64_t row, float eps, bool root) {
  float squares = 0;
  for (std::int64_t i = 0; i < c.k; ++i) squares += c.x(row, i) * c.x(row, i);
  const float mean = squares / static_cast<float>(c.k) + eps;
  const float scale = 1 / (root ? std::sqrt(mean) : mean);
  for (std::int64_t i = 0; i < c.k; ++i) c.y(row * c.k + i, c.x(row, i) * scale * c.w(i));
}

/// layer_norm by E[x^2] - E[x]^2.
void one_pass_norm_row(const Call& c, std::int64_t row) {
  float sum = 0, squares = 0;
  for (std::int64_t i = 0; i < c.k; ++i) {
    sum += c.x(row, i);
    squares += c.x(row, i) * c.x(row, i);
  }
  const float count = static_cast<float>(c.k), mean = sum / count;
  const float scale = 1 / std::sqrt(std::fmax(0.0f, squares / count - mean * mean) + 1e-5f);
  for (std::int64_t i = 0; i < c.k; ++i) {
    c.y(row * c.k + i, (c.x(row, i) - mean) * scale * c.w(i) + c.b(i));
  }
}

float sum_row(const Call& c, std::int64_t row) { return planted::sum_of(c, row, 0, c.k); }

Kernel filled(float value) {
  return called([value](const Call& c) {
    for (std::int64_t i = 0; i < c.n(); ++i) c.y(i, value);
  });
}

/// Computes once for each shape, then returns that result.
struct ReplayingSum {
  std::map<std::string, std::vector<float>> results{};

  void operator()(const std::vector<Array>& in, const Array& out) {
    const Call c{in, out, in[0].size(0), in[0].size(1)};
    const auto [result, is_new] = results.try_emplace(to_string(in[0].sizes()));
    for (std::int64_t row = 0; row < c.m; ++row) {
      if (is_new) result->second.push_back(sum_row(c, row));
      c.y(row, result->second[static_cast<std::size_t>(row)]);
    }
  }
};

struct RarelyWrongAdd {
  int calls = 0;

  void operator()(const std::vector<Array>& in, const Array& out) {
    const Call c{in, out};
    for (std::int64_t i = 0; i < c.n(); ++i) c.y(i, c.x(i) + c.w(i));
    if (++calls % 500 == 0 && c.n() > 0) c.y(c.n() - 1, c.x(c.n() - 1));
  }
};

}  // namespace

std::vector<AuditKernel> wrong_kernels() {
  const DType f32 = kFloat32, f16 = kFloat16, bf16 = kBFloat16;
  std::vector<AuditKernel> all = {
      {kSarkar, "softmax", f32, "the padding of the last block counts", kRows,
       rows([](const Call& c, std::int64_t row) { softmax_padded(c, row, 128); })},
      {kSarkar, "softmax", f32, "loads 0, not -inf, beyond the row", kRows,
       rows([](const Call& c, std::int64_t row) {
         softmax_padded(c, row, power_of_two_from(c.k));
       })},
      {kSarkar, "gelu", f32, "no factor 1/2", kElements,
       each([](float x, float) { return x * (1 + std::erf(x / std::numbers::sqrt2_v<float>)); })},
      {kSarkar, "silu", f32, "x sigmoid(2x)", kElements,
       each([](float x, float) { return x * logistic(2 * x); })},
      {kSarkar, "rms_norm", f32, "no root", kRows,
       rows([](const Call& c, std::int64_t row) { rms_norm_row(c, row, 1e-5f, false); })},
      {kSarkar, "norm", f32, "no root", kRows, rows([](const Call& c, std::int64_t row) {
         float squares = 0;
         for (std::int64_t i = 0; i < c.k; ++i) squares += c.x(row, i) * c.x(row, i);
         c.y(row, squares);
       })},
      {kSarkar, "leaky_relu", f32, "slope 0.1", kElements,
       each([](float x, float) { return x < 0 ? 0.1f * x : x; })},
      {kSarkar, "mm", f32, "a tile of k replaces the sum of those before", kProducts,
       products([](const Call& c, std::int64_t i, std::int64_t j, std::int64_t n) {
         constexpr std::int64_t kTile = 32;
         float sum = 0;
         for (std::int64_t p = (c.k - 1) / kTile * kTile; p < c.k; ++p) {
           sum += c.x(i, p) * c.w(p * n + j);
         }
         return sum;
       })},
      {kIssue165, "softmax", f32, "zeros", kLongRows, filled(0)},
      {kIssue165, "softmax", bf16, "zeros", kRows, filled(0)},
      {kReplay, "sum", f32, "returns the first result again", kRows, ReplayingSum{}},
      {kOwn, "softmax", f32, "1 / k everywhere", kLongRows, called([](const Call& c) {
         for (std::int64_t i = 0; i < c.n(); ++i) c.y(i, 1 / static_cast<float>(c.k));
       })},
      {kOwn, "relu", f32, "a copy", kElements, each([](float x, float) { return x; })},
      {kOwn, "mm", f32, "factors rounded to fp16", kProducts,
       products([](const Call& c, std::int64_t i, std::int64_t j, std::int64_t n) {
         float sum = 0;
         for (std::int64_t p = 0; p < c.k; ++p) {
           sum += planted::through<Half>(c.x(i, p)) * planted::through<Half>(c.w(p * n + j));
         }
         return sum;
       })},
      {kOwn, "mm", f16, "the last 8 of 200 columns are 0", kProducts,
       products([](const Call& c, std::int64_t i, std::int64_t j, std::int64_t n) {
         return j >= n / 96 * 96 && n > 96 ? 0 : dot_of(c, i, j, n, c.k);
       })},
      {kOwn, "sum", bf16, "the sum in bf16", kRows, rows([](const Call& c, std::int64_t row) {
         float sum = 0;
         for (std::int64_t i = 0; i < c.k; ++i) sum = c.stored(sum + c.x(row, i));
         c.y(row, sum);
       })},
      {kOwn, "softmax", f32, "exp(x) without the maximum", kRows,
       rows([](const Call& c, std::int64_t row) {
         float sum = 0;
         for (std::int64_t i = 0; i < c.k; ++i) sum += std::exp(c.x(row, i));
         for (std::int64_t i = 0; i < c.k; ++i) c.y(row * c.k + i, std::exp(c.x(row, i)) / sum);
       })},
      {kOwn, "layer_norm", f32, "E[x^2] - E[x]^2 as variance", kRows, rows(one_pass_norm_row)},
      {kOwn, "rms_norm", f16, "no eps", kRows,
       rows([](const Call& c, std::int64_t row) { rms_norm_row(c, row, 0, true); })},
      {kOwn, "relu", f16, "max(x, 0), which drops NaN", kElements,
       each([](float x, float) { return x > 0 ? x : 0; })},
      {kOwn, "add", f32, "leaves the last n mod 4 elements", kElements, called([](const Call& c) {
         for (std::int64_t i = 0; i < c.n() / 4 * 4; ++i) c.y(i, c.x(i) + c.w(i));
       })},
      {kOwn, "add", f32, "one element is wrong in every 500th call", kElements, RarelyWrongAdd{}},
  };
  for (AuditKernel& kernel : wrong_attention_kernels()) all.push_back(std::move(kernel));
  return all;
}

std::vector<AuditKernel> right_kernels() {
  const DType f32 = kFloat32, f16 = kFloat16, bf16 = kBFloat16;
  std::vector<AuditKernel> all = {
      {kOwn, "softmax", f32, "maximum, sum, quotient", kRows,
       rows([](const Call& c, std::int64_t row) { softmax_row(c, row, row, c.k); })},
      {kOwn, "mm", f16, "in order, the sum in fp32", kProducts,
       products([](const Call& c, std::int64_t i, std::int64_t j, std::int64_t n) {
         return dot_of(c, i, j, n, c.k);
       })},
      {kOwn, "sum", bf16, "in order, the sum in fp32", kRows,
       rows([](const Call& c, std::int64_t row) { c.y(row, sum_row(c, row)); })},
      {kOwn, "layer_norm", f32, "two passes", kRows,
       rows([](const Call& c, std::int64_t row) { norm_row(c, row, c.k, 1e-5f); })},
      {kOwn, "log", f32, "the library's", kElements,
       each([](float x, float) { return std::log(x); })},
      {kOwn, "rsqrt", f32, "1 / sqrt(x)", kElements,
       each([](float x, float) { return 1 / std::sqrt(x); })},
      {kOwn, "div", f32, "a (1 / b)", kElements,
       each([](float a, float b) { return a * (1 / b); })},
      {kOwn, "div", f16, "a / b", kElements, each([](float a, float b) { return a / b; })},
  };
  for (AuditKernel& kernel : right_attention_kernels()) all.push_back(std::move(kernel));
  return all;
}

}  // namespace halfgrad::testing::audit
