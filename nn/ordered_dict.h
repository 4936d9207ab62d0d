#pragma once

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/language.h>

namespace halfgrad {

/// A map from names to values that keeps the order of insertion. Iterates over pairs:
///     for (const auto& [name, tensor] : model.named_parameters()) ...
template <class Value>
class OrderedDict {
 public:
  using Item = std::pair<std::string, Value>;

  OrderedDict() = default;
  /// Throws std::invalid_argument if a name occurs twice.
  OrderedDict(std::initializer_list<Item> items) {
    for (const Item& item : items) insert(item.first, item.second);
  }

  /// Appends an item. Throws std::invalid_argument if the name is taken.
  void insert(std::string key, Value value) {
    if (contains(key)) {
      detail::fail("OrderedDict", "expected a new name, got \"{}\" twice", key);
    }
    items_.emplace_back(std::move(key), std::move(value));
  }

  bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// Returns a pointer to the value, or nullptr.
  const Value* find(std::string_view key) const {
    const auto item = std::find_if(begin(), end(), [&](const Item& i) { return i.first == key; });
    return item == end() ? nullptr : &item->second;
  }
  /// Throws std::out_of_range for an unknown name.
  const Value& operator[](std::string_view key) const {
    if (const Value* value = find(key)) return *value;
    detail::fail<std::out_of_range>("OrderedDict", "expected a known name, got \"{}\"", key);
  }
  Value& operator[](std::string_view key) { return const_cast<Value&>(std::as_const(*this)[key]); }

  std::size_t size() const { return items_.size(); }
  bool is_empty() const { return items_.empty(); }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const Item& item : items_) keys.push_back(item.first);
    return keys;
  }
  std::vector<Value> values() const {
    std::vector<Value> values;
    for (const Item& item : items_) values.push_back(item.second);
    return values;
  }

  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<Item> items_;
};

}  // namespace halfgrad
