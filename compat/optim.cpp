#include <halfgrad/compat/optim.h>

#include <iostream>

namespace halfgrad::optim {

void ReduceLROnPlateauScheduler::step(double metric) {
  const std::vector<double> before = get_last_lr();
  ReduceLROnPlateau::step(metric);
  if (!verbose_) return;
  const std::vector<double> after = get_last_lr();
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] == before[i]) continue;
    std::cout << "Epoch " << last_epoch() << ": reducing learning rate of group " << i << " to "
              << after[i] << '\n';
  }
}

}  // namespace halfgrad::optim
