#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <halfgrad/core/language.h>

namespace halfgrad::report {

/// Writes JSON text piece by piece. Values inside an object follow their key():
///
///   JsonWriter json;
///   json.begin('{').key("step").integer(3).end('}');
///
/// "<" in strings is written as an escape, so that the text may stand inside a `<script>` element.
class JsonWriter {
 public:
  JsonWriter& begin(char bracket);  ///< '{' or '['
  JsonWriter& end(char bracket);    ///< '}' or ']'
  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& integer(std::int64_t value);
  /// The shortest decimal that reads back as this float64; null if it is inf or NaN.
  JsonWriter& real(double value);
  /// The shortest decimal that reads back as the nearest float32: half as long.
  JsonWriter& rounded(double value);
  JsonWriter& boolean(bool value);

  const std::string& str() const { return out_; }

 private:
  void separate();
  void quote(std::string_view value);

  std::string out_;
  bool needs_comma_ = false;
};

}  // namespace halfgrad::report
