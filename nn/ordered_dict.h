#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/language.h>

namespace halfgrad {

/// A map that keeps the order of insertion; Key is usually std::string. Iterates over items:
///     for (const auto& [name, tensor] : model.named_parameters()) ...
///     for (const auto& item : model.named_parameters()) use(item.key(), item->sizes());
template <class Key, class Value>
class OrderedDict {
 public:
  /// A key and its value. `*item` and `item->` mean the value.
  struct Item {
    Key first;
    Value second;

    const Key& key() const { return first; }
    const Value& value() const { return second; }
    Value& value() { return second; }
    const Value& operator*() const { return second; }
    Value& operator*() { return second; }
    const Value* operator->() const { return &second; }
    Value* operator->() { return &second; }
    std::pair<Key, Value> pair() const { return {first, second}; }
  };
  /// std::string_view for names, so that a lookup allocates nothing.
  using KeyView =
      std::conditional_t<std::is_same_v<Key, std::string>, std::string_view, const Key&>;
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  OrderedDict() = default;
  /// Error messages call a key by this description.
  explicit OrderedDict(std::string key_description)
      : key_description_(std::move(key_description)) {}
  /// Throws std::invalid_argument if a key occurs twice.
  OrderedDict(std::initializer_list<Item> items) {
    for (const Item& item : items) insert(item.first, item.second);
  }

  /// Appends an item and returns its value. Throws std::invalid_argument if the key is taken.
  Value& insert(Key key, Value value) {
    if (contains(key)) {
      detail::fail("OrderedDict", "expected a new {}, got \"{}\" twice", key_description_, key);
    }
    items_.push_back({std::move(key), std::move(value)});
    return items_.back().second;
  }
  /// Appends all items of `other`. Throws std::invalid_argument as insert().
  void update(const OrderedDict& other) {
    for (const Item& item : other.items_) insert(item.first, item.second);
  }
  /// Throws std::out_of_range for an unknown key.
  void erase(KeyView key) { items_.erase(begin() + (&existing(key) - items_.data())); }
  void clear() { items_.clear(); }
  void reserve(std::size_t capacity) { items_.reserve(capacity); }

  bool contains(KeyView key) const { return find(key) != nullptr; }
  /// Returns a pointer to the value, or nullptr.
  const Value* find(KeyView key) const {
    const auto item = std::find_if(begin(), end(), [&](const Item& i) { return i.first == key; });
    return item == end() ? nullptr : &item->second;
  }
  Value* find(KeyView key) { return const_cast<Value*>(std::as_const(*this).find(key)); }
  /// Throws std::out_of_range for an unknown key.
  const Value& operator[](KeyView key) const { return existing(key).second; }
  Value& operator[](KeyView key) { return const_cast<Item&>(existing(key)).second; }
  /// The item at a position. Throws std::out_of_range.
  template <class Index>
  requires(std::is_integral_v<Index> && !std::is_integral_v<Key>) const Item& operator[](
      Index index) const {
    const auto position = static_cast<std::size_t>(index);
    if (position < size()) return items_[position];
    detail::fail<std::out_of_range>("OrderedDict", "expected a position in [0, {}), got {}", size(),
                                    position);
  }
  template <class Index>
  requires(std::is_integral_v<Index> && !std::is_integral_v<Key>) Item& operator[](Index index) {
    return const_cast<Item&>(std::as_const(*this)[index]);
  }
  const Item& front() const { return (*this)[std::size_t{0}]; }
  Item& front() { return (*this)[std::size_t{0}]; }
  const Item& back() const { return (*this)[size() - 1]; }
  Item& back() { return (*this)[size() - 1]; }

  const std::string& key_description() const { return key_description_; }
  std::size_t size() const { return items_.size(); }
  bool is_empty() const { return items_.empty(); }
  const std::vector<Item>& items() const { return items_; }
  std::vector<Key> keys() const {
    std::vector<Key> keys;
    for (const Item& item : items_) keys.push_back(item.first);
    return keys;
  }
  std::vector<Value> values() const {
    std::vector<Value> values;
    for (const Item& item : items_) values.push_back(item.second);
    return values;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> pairs;
    for (const Item& item : items_) pairs.push_back(item.pair());
    return pairs;
  }

  ConstIterator begin() const { return items_.begin(); }
  ConstIterator end() const { return items_.end(); }
  Iterator begin() { return items_.begin(); }
  Iterator end() { return items_.end(); }

 private:
  const Item& existing(KeyView key) const {
    for (const Item& item : items_) {
      if (item.first == key) return item;
    }
    detail::fail<std::out_of_range>("OrderedDict", "expected a known {}, got \"{}\"",
                                    key_description_, key);
  }

  std::vector<Item> items_;
  std::string key_description_ = "name";
};

}  // namespace halfgrad
