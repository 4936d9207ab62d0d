#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <halfgrad/data/dataset.h>

/// Text for language models of characters.
namespace halfgrad::data {

/// The bytes of a file. Throws std::runtime_error where it cannot be read.
std::string read_text(const std::filesystem::path& path);

/// The characters (bytes) that occur in a text, in their order, numbered from 0.
class Alphabet {
 public:
  explicit Alphabet(std::string_view text);

  std::int64_t size() const { return static_cast<std::int64_t>(characters_.size()); }
  /// Throws std::invalid_argument for a character that is not in the alphabet.
  std::vector<std::int64_t> encode(std::string_view text) const;
  /// Throws std::out_of_range for a number outside [0, size()).
  std::string decode(std::span<const std::int64_t> numbers) const;

 private:
  std::string characters_;
};

/// Every window of a text: x [b, length] are characters i ... i + length - 1, y [b, length] those
/// that follow each of them.
class TextBlocks {
 public:
  /// Throws std::invalid_argument unless length > 0 and the text is longer than that.
  TextBlocks(std::vector<std::int64_t> text, std::int64_t length);

  std::int64_t size() const { return static_cast<std::int64_t>(text_->size()) - length_; }
  /// Throws std::out_of_range for an index outside [0, size()), as all datasets.
  Batch get_batch(std::span<const std::int64_t> indices) const;

 private:
  std::shared_ptr<const std::vector<std::int64_t>> text_;
  std::int64_t length_;
};

/// The lines of a text, each by itself: y [b] is any character, also the one that ends a line, and
/// x [b, length] the characters before it, with line ends in place of what is before its line.
class LineContexts {
 public:
  /// Throws std::invalid_argument for length < 1.
  LineContexts(std::vector<std::int64_t> text, std::int64_t line_end, std::int64_t length);

  std::int64_t size() const { return static_cast<std::int64_t>(text_->size()); }
  Batch get_batch(std::span<const std::int64_t> indices) const;

 private:
  std::shared_ptr<const std::vector<std::int64_t>> text_;
  std::int64_t line_end_;
  std::int64_t length_;
};

}  // namespace halfgrad::data
