#include <halfgrad/optim/usual_options.h>

#include <halfgrad/optim/check_option.h>

namespace halfgrad::detail {

void check_usual_options(const std::string& optimizer, const optim::ParamGroup& group) {
  const auto check = [&optimizer](const std::optional<double>& option, const char* expected) {
    if (option) check_option(*option >= 0, optimizer, expected, *option);
  };
  check(group.lr, "lr >= 0");
  check(group.eps, "eps >= 0");
  if (group.betas) {
    const auto [beta1, beta2] = *group.betas;
    check_option(beta1 >= 0 && beta1 < 1, optimizer, "betas.first in [0, 1)", beta1);
    check_option(beta2 >= 0 && beta2 < 1, optimizer, "betas.second in [0, 1)", beta2);
  }
  check(group.momentum, "momentum >= 0");
  check(group.weight_decay, "weight_decay >= 0");
}

}  // namespace halfgrad::detail
