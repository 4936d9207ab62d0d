#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <vector>

#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

/// The gradients of leaves during a backward pass, in the order in which each leaf was first
/// reached. The first 16 need no heap memory.
class LeafGradients {
 public:
  struct Entry {
    std::shared_ptr<TensorImpl> leaf;
    Tensor gradient;
    ScaleId scale = kUnknownScale;
  };

  LeafGradients() { entries_.reserve(kFew); }

  /// The entry of `leaf`; its gradient is undefined at first.
  Entry& of(const std::shared_ptr<TensorImpl>& leaf) {
    if (entries_.size() <= kFew) {
      for (Entry& entry : entries_) {
        if (entry.leaf == leaf) return entry;
      }
    }
    if (entries_.size() >= kFew) {
      if (index_ == nullptr) make_index();
      const auto [found, inserted] = index_->try_emplace(leaf.get(), entries_.size());
      if (!inserted) return entries_[found->second];
    }
    return entries_.emplace_back(Entry{leaf, Tensor()});
  }

  /// The entry of `leaf`, or null. An entry whose leaf is null was taken.
  Entry* find(const TensorImpl* leaf) {
    if (index_ != nullptr) {
      const auto found = index_->find(leaf);
      return found == index_->end() ? nullptr : &entries_[found->second];
    }
    for (Entry& entry : entries_) {
      if (entry.leaf.get() == leaf) return &entry;
    }
    return nullptr;
  }

  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }

 private:
  static constexpr std::size_t kFew = 16;  // up to here a linear search, then a hash table

  using Index = std::unordered_map<const TensorImpl*, std::size_t>;

  void make_index() {
    index_ = std::make_unique<Index>();
    for (std::size_t i = 0; i < entries_.size(); ++i) (*index_)[entries_[i].leaf.get()] = i;
  }

  alignas(Entry) std::array<std::byte, kFew * sizeof(Entry)> first_entries_;
  std::pmr::monotonic_buffer_resource memory_{first_entries_.data(), first_entries_.size()};
  std::pmr::vector<Entry> entries_{&memory_};
  std::unique_ptr<Index> index_;
};

}  // namespace halfgrad::detail
