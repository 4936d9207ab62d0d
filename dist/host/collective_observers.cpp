#include <halfgrad/dist/host/collective_observers.h>

#include <utility>

namespace halfgrad::dist {

std::shared_ptr<void> CollectiveObservers::add(
    std::function<void(const CollectiveSpan&)> observer) {
  const std::lock_guard lock(listed_->mutex);
  const auto place = listed_->observers.insert(listed_->observers.end(), std::move(observer));
  return {nullptr, [listed = listed_, place](void*) {
            const std::lock_guard removal(listed->mutex);
            listed->observers.erase(place);
          }};
}

bool CollectiveObservers::is_empty() const {
  const std::lock_guard lock(listed_->mutex);
  return listed_->observers.empty();
}

void CollectiveObservers::notify(const CollectiveSpan& span) const {
  const std::lock_guard lock(listed_->mutex);
  for (const auto& observer : listed_->observers) observer(span);
}

}  // namespace halfgrad::dist
