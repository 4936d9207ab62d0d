#include <halfgrad/dist/host/call.h>

#include <string>

namespace halfgrad::dist {
namespace {

std::string details(const Call& call) {
  constexpr const char* kOps[] = {"sum", "average", "max"};
  switch (call.collective) {
    case Collective::all_reduce:
    case Collective::reduce_scatter:
      return std::string(" (") + kOps[call.op] + ")";
    case Collective::broadcast:
      return " from rank " + std::to_string(call.root);
    default:
      return "";
  }
}

}  // namespace

const char* name(Collective collective) {
  constexpr const char* kNames[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast",
                                    "barrier"};
  return kNames[static_cast<int>(collective)];
}

std::string to_string(const Call& call) {
  std::string text = name(call.collective) + details(call);
  if (call.collective != Collective::barrier) {
    text += " of " + std::to_string(call.count) + " " +
            std::string(name(static_cast<DType>(call.dtype)));
  }
  return text + ", collective " + std::to_string(call.number);
}

}  // namespace halfgrad::dist
