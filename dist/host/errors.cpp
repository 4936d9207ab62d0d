#include <halfgrad/dist/host/errors.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

std::string text_of(std::chrono::milliseconds time) {
  return halfgrad::detail::message_part(static_cast<double>(time.count()) / 1000) + " s";
}

void fail_silent(const std::vector<std::string>& names, std::chrono::milliseconds timeout) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  throw CommunicationError("expected every rank to take part within " + text_of(timeout) +
                           ", got no answer from " + list);
}

void fail_left(const std::string& name, const std::string& reason) {
  throw CommunicationError("expected every rank to take part, but " + name +
                           " has left: " + reason);
}

void fail_interrupted() {
  throw CommunicationError("given up, because this rank's program threw an exception");
}

}  // namespace halfgrad::dist
