// Data parallel training with the installed component dist: each rank learns from its own samples,
// and all must end with the same weights. The argument is the number of ranks that mpirun starts.

#include <cstdio>
#include <cstdlib>

#include <halfgrad/dist/data_parallel.h>
#include <halfgrad/dist/init_process_group.h>
#include <halfgrad/halfgrad.h>

namespace hg = halfgrad;

int main(int count, char** arguments) {
  const auto world = hg::dist::init_process_group();
  const int ranks = count > 1 ? std::atoi(arguments[1]) : 1;
  if (world->size() != ranks) {
    std::fprintf(stderr, "expected %d ranks, got %d\n", ranks, world->size());
    return 1;
  }
  hg::manual_seed(world->rank());  // other samples on each rank
  const hg::Tensor x = hg::randn({64, 8});
  const hg::Tensor y = x.sum(1, true);
  hg::dist::DataParallel model(hg::nn::Linear(8, 1), world);
  hg::optim::SGD optimizer(model.parameters(), {.lr = 0.1});

  double first = 0;
  double last = 0;
  for (int step = 0; step < 30; ++step) {
    optimizer.zero_grad();
    const hg::Tensor loss = hg::nn::functional::mse_loss(model(x), y);
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  const hg::Tensor weight = model.module().weight.detach();
  const hg::Tensor largest = weight.clone();
  world->all_reduce(largest.array(), hg::dist::ReduceOp::max).wait();
  const bool is_equal = hg::equal(weight, largest);
  std::printf("rank %d of %d: loss %.4f -> %.4f, %s weights\n", world->rank(), ranks, first, last,
              is_equal ? "equal" : "different");
  return is_equal && last < first / 2 ? 0 : 1;
}
