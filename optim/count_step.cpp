#include <halfgrad/optim/count_step.h>

#include <cstdint>

#include <halfgrad/core/engines/parallel.h>

namespace halfgrad::detail {
namespace {

struct CountStep {
  const float* found_inf;
  std::int64_t* skipped;
  std::int64_t* executed;  // null: executed steps are not counted

  HG_HD void operator()(std::int64_t) const {
    std::int64_t* const counter = *found_inf != 0 ? skipped : executed;
    if (counter != nullptr) ++*counter;
  }
};

}  // namespace

void count_step(const Array& found_inf, const Array& skipped, const Array& executed) {
  const CountStep count{found_inf.data_as<float>(), skipped.data_as<std::int64_t>(),
                        executed.defined() ? executed.data_as<std::int64_t>() : nullptr};
  parallel_for_each("count_step", found_inf.device(), 1, count);
}

}  // namespace halfgrad::detail
