// Chapter 2: rounding in sums. Adds ones until the sum stalls, compares four ways to add up, and
// shows which accumulators the library uses.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <halfgrad/halfgrad.h>

#include "02_rounding/sums.h"
#include "course.h"
namespace hg = halfgrad;

namespace {

// Adds `step` until the sum does not change.
template <class T>
double stall(T step) {
  T total(0.0f);
  while (true) {
    const T next = sums::plus(total, step);
    if (next.bits == total.bits) return static_cast<double>(static_cast<float>(total));
    total = next;
  }
}

double stall_fp32() {
  float total = 0;
  for (float next = 1; next != total; next = total + 1) total = next;
  return static_cast<double>(total);
}

void print_stalls(course::Chapter& chapter) {
  std::printf("A sum of ones stops growing at\n");
  chapter.fact("stall_fp16", stall(hg::Half(1.0f)));
  chapter.fact("stall_bf16", stall(hg::BFloat16(1.0f)));
  chapter.fact("stall_fp32", stall_fp32());
  std::printf("A sum of tenths stops growing at\n");
  chapter.fact("stall_tenths_fp16", stall(hg::Half(0.1f)));
  chapter.fact("stall_tenths_bf16", stall(hg::BFloat16(0.1f)));
  std::printf("The order of a sum matters\n");
  const hg::Half big(2048.0f), one(1.0f);
  chapter.fact("big_first", double(float(sums::plus(sums::plus(big, one), one))));
  chapter.fact("ones_first", double(float(sums::plus(big, sums::plus(one, one)))));
}

// Values in [0, 1) from a linear congruential generator (Park, Miller and Stockmeyer 1993), so that
// Python draws the same.
std::vector<hg::Half> random_values(std::size_t count) {
  std::uint64_t state = 1;
  std::vector<hg::Half> values;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 48271 % 2147483647;
    values.emplace_back(static_cast<float>(static_cast<double>(state) / 2147483647.0));
  }
  return values;
}

double error_of(hg::Half got, double exact) {
  return std::fabs(static_cast<double>(static_cast<float>(got)) - exact) / exact;
}

struct Errors {
  double naive, pairwise, kahan, wide;
};

Errors errors_of(const std::vector<hg::Half>& x) {
  const double exact = sums::exact(x);
  return {error_of(sums::naive(x), exact), error_of(sums::pairwise(x, 0, x.size()), exact),
          error_of(sums::kahan(x), exact), error_of(sums::wide(x), exact)};
}

void print_methods(course::Chapter& chapter) {
  std::printf("\n4096 random values in [0, 1), added in fp16: errors in percent\n");
  const std::vector<hg::Half> x = random_values(4096);
  const Errors errors = errors_of(x);
  chapter.fact("exact_sum", sums::exact(x));
  chapter.fact("naive_sum", double(float(sums::naive(x))));
  chapter.fact("naive_error_percent", 100 * errors.naive);
  chapter.fact("pairwise_error_percent", 100 * errors.pairwise);
  chapter.fact("kahan_error_percent", 100 * errors.kahan);
  chapter.fact("wide_error_percent", 100 * errors.wide);
  std::printf("4096 ones, added in bf16\n");
  const std::vector<hg::BFloat16> ones(4096, hg::BFloat16(1.0f));
  chapter.fact("naive_ones_bf16", double(float(sums::naive(ones))));
  chapter.fact("pairwise_ones_bf16", double(float(sums::pairwise(ones, 0, ones.size()))));
  chapter.fact("kahan_ones_bf16", double(float(sums::kahan(ones))));

  std::printf("The library's sum and product of the same fp16 values\n");
  std::vector<double> widened;
  for (const hg::Half value : x) widened.push_back(static_cast<double>(static_cast<float>(value)));
  const hg::Tensor values = hg::tensor(widened, {4096}).to(hg::kFloat16);
  chapter.fact("library_sum", hg::sum(values).item());
  const hg::Tensor ones_column = hg::ones({4096, 1}).to(hg::kFloat16);
  const hg::Tensor product = hg::mm(values.reshape({1, 4096}), ones_column);
  chapter.fact("library_product", product.item());
  chapter.fact("library_dtype", std::string(hg::name(product.dtype())));
}

std::string draw_stalls() {
  course::Series fp16{.name = "fp16"}, bf16{.name = "bf16"}, exact{.name = "exact", .dashed = true};
  hg::Half half(0.0f);
  hg::BFloat16 bfloat(0.0f);
  for (int count = 1, next = 1; count <= 8192; ++count) {
    half = sums::plus(half, hg::Half(1.0f));
    bfloat = sums::plus(bfloat, hg::BFloat16(1.0f));
    if (count != next) continue;
    next *= 2;
    const double sums_so_far[] = {double(float(half)), double(float(bfloat)), double(count)};
    course::Series* const series[] = {&fp16, &bf16, &exact};
    for (int i = 0; i < 3; ++i) {
      series[i]->x.push_back(count);
      series[i]->y.push_back(sums_so_far[i]);
    }
  }
  return course::line_chart({.title = "Adding ones: the sum stalls at 2048 in fp16, at 256 in bf16",
                             .x = {.label = "ones added", .scale = course::Scale::log2},
                             .y = {.label = "sum", .scale = course::Scale::log2},
                             .points = true},
                            {fp16, bf16, exact});
}

std::string draw_errors() {
  std::vector<course::Series> series = {{.name = "one by one"},
                                        {.name = "pairwise"},
                                        {.name = "Kahan"},
                                        {.name = "fp32 accumulator", .dashed = true}};
  for (std::size_t n = 16; n <= 16384; n *= 2) {
    const Errors errors = errors_of(random_values(n));
    const double all[] = {errors.naive, errors.pairwise, errors.kahan, errors.wide};
    for (std::size_t i = 0; i < series.size(); ++i) {
      series[i].x.push_back(static_cast<double>(n));
      series[i].y.push_back(std::max(all[i], 0x1p-20));  // 0 has no logarithm
    }
  }
  return course::line_chart({.title = "Relative error of sums of n random values in fp16",
                             .x = {.label = "n", .scale = course::Scale::log2},
                             .y = {.label = "relative error", .scale = course::Scale::log2},
                             .limits = {{.at = 0x1p-11, .label = "one roundoff of fp16"}},
                             .points = true},
                            series);
}

}  // namespace

int main(int argc, char** argv) {
  course::Chapter chapter(
      argc, argv, {.slug = "02_rounding", .does = "Adds up values in 16 bits, in four ways."});
  return chapter.run([&] {
    print_stalls(chapter);
    print_methods(chapter);
    chapter.picture("stall", draw_stalls());
    chapter.picture("errors", draw_errors());
  });
}
