#include <halfgrad/emulator/nccl/clique.h>

#include <algorithm>
#include <string>

#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

/// "rank 0: ncclAllReduce of 8 float32 (sum), collective 3 of the communicator".
std::string describe(const Exchange& exchange, const Member& member) {
  std::string text = rank_text(member.rank) + ": " + describe(member.call);
  if (exchange.number != 0) {
    text += ", collective " + std::to_string(exchange.number) + " of the communicator";
  }
  return text;
}

void report(FindingKind kind, const RankCall& call, std::string message) {
  report_call(kind, call.function, std::move(message));
}

}  // namespace

std::mutex& nccl_mutex() {
  static auto& mutex = *new std::mutex;  // never destroyed: programs call NCCL at exit
  return mutex;
}

bool Exchange::is_complete() const {
  return std::all_of(members.begin(), members.end(), [](const Member& m) { return m.begun; });
}

const Member* Exchange::missing() const {
  const auto absent = std::find_if(members.begin(), members.end(),
                                   [](const Member& member) { return !member.given; });
  if (absent != members.end()) return &*absent;
  const auto late = std::find_if(members.begin(), members.end(),
                                 [](const Member& member) { return !member.begun; });
  return late == members.end() ? nullptr : &*late;
}

void Clique::break_off(Exchange& exchange, ncclResult_t error) {
  exchange.broken = true;
  for (const Member& member : exchange.members) {
    ncclResult_t& known = rank(member.rank).async_error;
    if (known == ncclSuccess) known = error;
  }
}

void Clique::leave(int left, Left how) {
  rank(left).left = how;
  std::vector<std::shared_ptr<Exchange>> open;
  for (const auto& [number, exchange] : collectives) open.push_back(exchange);
  for (const auto& [pair, transfer] : transfers) {
    for (const auto& [number, exchange] : transfer.open) open.push_back(exchange);
  }
  for (const auto& exchange : open) {
    const auto mine = std::find_if(exchange->members.begin(), exchange->members.end(),
                                   [&](const Member& member) { return member.rank == left; });
    if (exchange->broken || mine == exchange->members.end()) continue;
    const bool waits_for_me = !mine->given;
    if (how == Left::destroyed && waits_for_me) {
      for (const Member& other : exchange->members) {
        if (!other.given) continue;
        report(FindingKind::deadlock, other.call,
               describe(*exchange, other) + ", waits for " + rank_text(left) +
                   ", which destroys its communicator without calling it");
        break;
      }
    }
    break_off(*exchange, ncclRemoteError);
  }
}

Part::Part(std::shared_ptr<Clique> clique, int rank, std::vector<RankCall> calls,
           std::uint64_t group, std::uint64_t thread)
    : clique_(std::move(clique)),
      rank_(rank),
      calls_(std::move(calls)),
      group_(group),
      thread_(thread) {}

Part::~Part() {
  if (!was_given_) return;
  const std::lock_guard lock(nccl_mutex());
  --clique_->rank(rank_).unfinished;
}

Part::Place Part::join_collective() {
  const std::uint64_t number = ++clique_->rank(rank_).collectives;
  std::shared_ptr<Exchange>& slot = clique_->collectives[number];
  if (slot == nullptr) {
    slot = std::make_shared<Exchange>();
    slot->number = number;
    slot->members.resize(clique_->ranks.size());
    for (int i = 0; i < clique_->size(); ++i) slot->members[static_cast<std::size_t>(i)].rank = i;
  }
  return {slot, static_cast<std::size_t>(rank_)};
}

/// The k-th send from rank a to rank b meets the k-th receive of b from a.
Part::Place Part::join_transfer(const RankCall& call) {
  const bool sends = call.kind == CallKind::send;
  const std::pair<int, int> ranks =
      sends ? std::pair{rank_, call.root} : std::pair{call.root, rank_};
  Clique::Transfers& transfers = clique_->transfers[ranks];
  const std::uint64_t number = sends ? ++transfers.sent : ++transfers.received;
  std::shared_ptr<Exchange>& slot = transfers.open[number];
  if (slot == nullptr) {
    slot = std::make_shared<Exchange>();
    slot->members.resize(2);
    slot->members[0].rank = ranks.first;
    slot->members[1].rank = ranks.second;
  }
  const Place place{slot, sends ? 0u : 1u};
  const bool is_matched = slot->members[1 - place.member].given;
  if (is_matched) transfers.open.erase(number);
  return place;
}

Part::Place Part::join(const RankCall& call) {
  const Place place = call.is_transfer() ? join_transfer(call) : join_collective();
  Member& mine = place.exchange->members[place.member];
  mine.call = call;
  mine.given = true;
  mine.thread = thread_;
  mine.group = group_;
  return place;
}

/// Reports a call that does not fit to the others of its exchange.
void Part::check_partners(const Place& place) {
  Exchange& exchange = *place.exchange;
  const Member& mine = exchange.members[place.member];
  for (const Member& other : exchange.members) {
    if (&other == &mine) continue;
    const Left left = clique_->rank(other.rank).left;
    if (!other.given && left != Left::no) {
      if (left == Left::destroyed && !exchange.broken) {
        report(FindingKind::deadlock, mine.call,
               describe(exchange, mine) + ", waits for " + rank_text(other.rank) +
                   ", which has destroyed its communicator");
      }
      clique_->break_off(exchange, ncclRemoteError);
    }
    if (!other.given || exchange.broken) continue;
    if (!agree(mine.call, other.call)) {
      report(FindingKind::invalid_call, mine.call,
             "the ranks' calls differ: " + describe(exchange, mine) + "; " +
                 describe(exchange, other));
      clique_->break_off(exchange, ncclInvalidUsage);
    } else if (group_ != 0 && other.group != 0 && other.group != group_ &&
               other.thread == thread_ && !mine.call.is_transfer()) {
      report(FindingKind::deadlock, mine.call,
             "one thread calls it for " + rank_text(other.rank) + " and " + rank_text(rank_) +
                 ", so both calls must be between ncclGroupStart and ncclGroupEnd");
    }
  }
  const bool all_given = std::all_of(exchange.members.begin(), exchange.members.end(),
                                     [](const Member& member) { return member.given; });
  if (all_given && exchange.number != 0) clique_->collectives.erase(exchange.number);
}

void Part::given(OperationId operation, Position position) {
  const std::lock_guard lock(nccl_mutex());
  was_given_ = true;
  ++clique_->rank(rank_).unfinished;
  for (const RankCall& call : calls_) {
    const Place place = join(call);
    Member& mine = place.exchange->members[place.member];
    mine.operation = operation;
    mine.position = position;
    places_.push_back(place);
    check_partners(place);
  }
}

bool Part::begin() {
  const std::lock_guard lock(nccl_mutex());
  bool all = true;
  for (const Place& place : places_) {
    place.exchange->members[place.member].begun = true;
    all = all && (place.exchange->broken || place.exchange->is_complete());
  }
  return all;
}

void Part::add_partners(std::vector<Position>& places) const {
  const std::lock_guard lock(nccl_mutex());
  for (const Place& place : places_) {
    for (const Member& member : place.exchange->members) {
      if (member.given && member.rank != rank_) places.push_back(member.position);
    }
  }
}

void Part::give_up() {
  const std::lock_guard lock(nccl_mutex());
  for (const Place& place : places_) {
    Exchange& exchange = *place.exchange;
    const Member* const missing = exchange.missing();
    if (exchange.broken || missing == nullptr) continue;
    const Member& mine = exchange.members[place.member];
    report(FindingKind::deadlock, mine.call,
           describe(exchange, mine) + ", waits for " + rank_text(missing->rank) +
               (missing->given ? ", which has called it behind work that never ends"
                               : ", which has not called it"));
    clique_->break_off(exchange, ncclRemoteError);
  }
}

}  // namespace halfgrad::emulator
