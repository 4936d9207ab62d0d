#include <halfgrad/optim/count_step.h>

#include <cstdint>

#include <halfgrad/core/parallel.h>

namespace halfgrad::detail {
namespace {

struct CountSkipped {
  std::int64_t* count;
  const float* found_inf;

  HG_HD void operator()(std::int64_t) const {
    if (*found_inf != 0) ++*count;
  }
};

}  // namespace

void count_skipped(const Array& count, const Array& found_inf) {
  const CountSkipped add{count.data_as<std::int64_t>(), found_inf.data_as<float>()};
  parallel_for_each("count_skipped", count.device(), 1, add);
}

}  // namespace halfgrad::detail
