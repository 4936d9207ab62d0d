#include <halfgrad/dist/any_rank.h>

namespace halfgrad::dist {

bool any_rank(Communicator& communicator, bool here, Device device) {
  const Array flag = Array::full({}, here ? 1 : 0, kFloat, device);
  communicator.all_reduce(flag, ReduceOp::max).wait();
  return flag.item() != 0;
}

}  // namespace halfgrad::dist
