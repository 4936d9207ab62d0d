#include <halfgrad/emulator/runtime/streams/clock.h>

#include <algorithm>

namespace halfgrad::emulator {
namespace {

bool chain_is_less(const Position& position, ChainId chain) { return position.chain < chain; }

}  // namespace

std::uint32_t Clock::count(ChainId chain) const {
  const auto found = std::lower_bound(positions_.begin(), positions_.end(), chain, chain_is_less);
  return found != positions_.end() && found->chain == chain ? found->index : 0;
}

bool Clock::covers(const Clock& other) const {
  auto mine = positions_.begin();
  for (const Position& theirs : other.positions_) {
    while (mine != positions_.end() && mine->chain < theirs.chain) ++mine;
    if (mine == positions_.end() || mine->chain != theirs.chain || mine->index < theirs.index) {
      return false;
    }
  }
  return true;
}

void Clock::reach(Position position) {
  if (position.index == 0) return;
  const auto place =
      std::lower_bound(positions_.begin(), positions_.end(), position.chain, chain_is_less);
  if (place != positions_.end() && place->chain == position.chain) {
    place->index = std::max(place->index, position.index);
  } else {
    positions_.insert(place, position);
  }
}

void Clock::join(const Clock& other) {
  std::vector<Position> result;
  result.reserve(positions_.size() + other.positions_.size());
  auto a = positions_.begin();
  auto b = other.positions_.begin();
  while (a != positions_.end() && b != other.positions_.end()) {
    if (a->chain < b->chain) {
      result.push_back(*a++);
    } else if (b->chain < a->chain) {
      result.push_back(*b++);
    } else {
      result.push_back({a->chain, std::max(a->index, b->index)});
      ++a, ++b;
    }
  }
  result.insert(result.end(), a, positions_.end());
  result.insert(result.end(), b, other.positions_.end());
  positions_ = std::move(result);
}

void Clock::drop_covered(const Clock& other) {
  std::erase_if(positions_, [&](const Position& position) { return other.covers(position); });
}

SharedClock joined(const SharedClock& first, const Clock& second) {
  if (first != nullptr && first->covers(second)) return first;
  Clock result = first == nullptr ? Clock{} : *first;
  result.join(second);
  return std::make_shared<const Clock>(std::move(result));
}

SharedClock reached(const SharedClock& clock, Position position) {
  if (clock != nullptr && clock->covers(position)) return clock;
  Clock result = clock == nullptr ? Clock{} : *clock;
  result.reach(position);
  return std::make_shared<const Clock>(std::move(result));
}

}  // namespace halfgrad::emulator
