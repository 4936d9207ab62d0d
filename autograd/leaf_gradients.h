#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

/// Gradients that wait for the end of a backward pass, by the leaf they belong to: in the order in
/// which the first for each arrived. A few need no memory of their own.
class LeafGradients {
 public:
  using Entry = std::pair<std::shared_ptr<TensorImpl>, Tensor>;

  LeafGradients() { entries_.reserve(kFew); }

  /// That of `leaf`; undefined at first.
  Tensor& of(const std::shared_ptr<TensorImpl>& leaf) {
    if (entries_.size() <= kFew) {
      for (auto& [known, gradient] : entries_) {
        if (known == leaf) return gradient;
      }
    }
    if (entries_.size() >= kFew) {
      if (index_ == nullptr) make_index();
      const auto [found, inserted] = index_->try_emplace(leaf.get(), entries_.size());
      if (!inserted) return entries_[found->second].second;
    }
    return entries_.emplace_back(leaf, Tensor()).second;
  }

  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }

 private:
  static constexpr std::size_t kFew = 16;  // found by looking at each, beyond by hashing

  using Index = std::unordered_map<const TensorImpl*, std::size_t>;

  void make_index() {
    index_ = std::make_unique<Index>();
    for (std::size_t i = 0; i < entries_.size(); ++i) (*index_)[entries_[i].first.get()] = i;
  }

  alignas(Entry) std::array<std::byte, kFew * sizeof(Entry)> room_;
  std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
  std::pmr::vector<Entry> entries_{&memory_};
  std::unique_ptr<Index> index_;
};

}  // namespace halfgrad::detail
