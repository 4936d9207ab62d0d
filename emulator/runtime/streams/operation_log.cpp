#include <halfgrad/emulator/runtime/streams/operation_log.h>

#include <algorithm>
#include <utility>

namespace halfgrad::emulator {

OperationId OperationLog::next() { return ++last_; }

void OperationLog::add(OperationId operation, Position position, SharedClock before,
                       std::string description, OperationId overlapped) {
  const std::unique_lock lock(mutex_);
  const char* text = descriptions_.insert(std::move(description)).first->c_str();
  records_.insert_or_assign(operation, Record{position, std::move(before), text, overlapped});
}

bool OperationLog::ordered(OperationId earlier, OperationId later) const {
  if (earlier == later || earlier == 0) return true;
  if (earlier > later) return false;  // operations are numbered when they are issued
  const std::shared_lock lock(mutex_);
  const auto first = records_.find(earlier);
  if (first == records_.end()) return true;
  const auto second = records_.find(later);
  if (second == records_.end() || overlaps(earlier, second->second, false)) return false;
  const Position a = first->second.position, b = second->second.position;
  if (a.chain == b.chain) return a.index < b.index;
  return second->second.before != nullptr && second->second.before->covers(a);
}

bool OperationLog::overlaps(OperationId earlier, OperationId later, bool waited) const {
  const std::shared_lock lock(mutex_);
  const auto found = records_.find(later);
  return found != records_.end() && overlaps(earlier, found->second, waited);
}

bool OperationLog::overlaps(OperationId earlier, const Record& later, bool waited) const {
  const Record* launch = &later;
  while (launch->overlapped != 0) {
    if (!waited && launch->overlapped == earlier) return true;
    const auto before = records_.find(launch->overlapped);
    if (before == records_.end()) return false;
    launch = &before->second;
    waited = launch->waits;
  }
  return false;
}

void OperationLog::note_wait(OperationId launch) const {
  const std::unique_lock lock(mutex_);
  const auto found = records_.find(launch);
  if (found != records_.end()) found->second.waits = true;
}

const char* OperationLog::describe(OperationId operation) const {
  const std::shared_lock lock(mutex_);
  const auto found = records_.find(operation);
  return found == records_.end() ? "an earlier operation" : found->second.description;
}

bool OperationLog::is_long() const {
  constexpr std::size_t kFewOperations = 4096;
  const std::shared_lock lock(mutex_);
  return records_.size() > std::max(kFewOperations, 2 * size_after_forget_);
}

void OperationLog::forget(const Clock& everything_live_is_after) {
  const std::unique_lock lock(mutex_);
  std::erase_if(records_, [&](const auto& entry) {
    return everything_live_is_after.covers(entry.second.position);
  });
  size_after_forget_ = records_.size();
}

std::size_t OperationLog::size() const {
  const std::shared_lock lock(mutex_);
  return records_.size();
}

}  // namespace halfgrad::emulator
