#pragma once

#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Reads the JSON files in tests/expected; supports no escapes in strings.
namespace halfgrad::tests {

struct Json {
  double number = 0;  // 1 for true, 0 for false
  std::string text;
  std::vector<Json> items;
  std::map<std::string, Json> members;

  const Json& operator[](const std::string& key) const { return members.at(key); }
  const Json& operator[](std::size_t i) const { return items.at(i); }
  std::size_t size() const { return items.size(); }

  double get(const std::string& key, double otherwise) const {
    const auto found = members.find(key);
    return found == members.end() ? otherwise : found->second.number;
  }
  std::vector<double> numbers() const {
    std::vector<double> all;
    append_numbers(all);
    return all;
  }

 private:
  void append_numbers(std::vector<double>& all) const {
    if (items.empty()) all.push_back(number);
    for (const Json& item : items) item.append_numbers(all);
  }
};

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  Json value() {
    Json json;
    const char first = next();
    if (first == '{') {
      list('}', [&] {
        const std::string key = string();
        expect(':');
        json.members[key] = value();
      });
    } else if (first == '[') {
      list(']', [&] { json.items.push_back(value()); });
    } else if (first == '"') {
      json.text = string();
    } else {
      json.number = scalar();
    }
    return json;
  }

 private:
  char next() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
      rest_.remove_prefix(1);
    }
    return rest_.empty() ? '\0' : rest_.front();
  }
  void expect(char wanted) {
    if (next() != wanted) {
      throw std::runtime_error(std::string("json: expected ") + wanted + ", got \"" +
                               std::string(rest_.substr(0, 20)) + "\"");
    }
    rest_.remove_prefix(1);
  }
  template <class F>
  void list(char close, const F& element) {
    rest_.remove_prefix(1);
    while (next() != close) {
      element();
      if (next() != close) expect(',');
    }
    rest_.remove_prefix(1);
  }
  std::string string() {
    expect('"');
    std::string result(rest_.substr(0, rest_.find('"')));
    rest_.remove_prefix(result.size());
    expect('"');
    return result;
  }
  double scalar() {
    const std::string word(rest_.substr(0, rest_.find_first_of(",]} \n")));
    rest_.remove_prefix(word.size());
    if (word == "true" || word == "false") return word == "true" ? 1 : 0;
    return std::stod(word);
  }

  std::string_view rest_;
};

/// Reads the file of this name in tests/expected.
inline Json expected(const std::string& file) {
  std::ifstream in(std::string(HALFGRAD_SOURCE_DIR "/tests/expected/") + file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return JsonReader(text).value();
}

}  // namespace halfgrad::tests
