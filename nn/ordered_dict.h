#pragma once

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <halfgrad/core/language.h>

namespace halfgrad {

/// Values found by name, in the order of their insertion. Iterates over pairs:
/// `for (const auto& [name, tensor] : model.named_parameters())`.
template <class Value>
class OrderedDict {
 public:
  using Item = std::pair<std::string, Value>;

  OrderedDict() = default;
  /// Throws std::invalid_argument when a name comes twice.
  OrderedDict(std::initializer_list<Item> items) {
    for (const Item& item : items) insert(item.first, item.second);
  }

  /// Appends. Throws std::invalid_argument when the name is taken.
  void insert(std::string key, Value value) {
    if (contains(key)) {
      throw std::invalid_argument("OrderedDict: expected a new name, got \"" + key + "\" twice");
    }
    items_.emplace_back(std::move(key), std::move(value));
  }

  bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// The value, or nullptr.
  const Value* find(std::string_view key) const {
    const auto item = std::find_if(begin(), end(), [&](const Item& i) { return i.first == key; });
    return item == end() ? nullptr : &item->second;
  }
  /// Throws std::out_of_range when there is none.
  const Value& operator[](std::string_view key) const {
    if (const Value* value = find(key)) return *value;
    throw std::out_of_range("OrderedDict: expected a known name, got \"" + std::string(key) + "\"");
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
