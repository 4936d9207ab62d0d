#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <halfgrad/data/dataset.h>

/// Text data sets for language models of characters.
namespace halfgrad::data {

/// Returns the bytes of a regular file. Throws files::FormatError (a std::runtime_error) if it
/// cannot be read. Refuses pipes and devices, for which a program could wait forever.
std::string read_text(const std::filesystem::path& path);

/// The characters (bytes) that occur in a text, sorted; a character's index is its position.
class Alphabet {
 public:
  explicit Alphabet(std::string_view text);

  std::int64_t size() const { return static_cast<std::int64_t>(characters_.size()); }
  /// Throws std::invalid_argument for a character that is not in the alphabet.
  std::vector<std::int64_t> encode(std::string_view text) const;
  /// Throws std::out_of_range for an index outside [0, size()).
  std::string decode(std::span<const std::int64_t> indices) const;

 private:
  std::string characters_;
};

/// All windows of a text. For sample i, x `[b, length]` holds the characters i ... i + length - 1,
/// and y `[b, length]` the characters i + 1 ... i + length.
class TextBlocks {
 public:
  /// Throws std::invalid_argument unless 0 < length < text.size().
  TextBlocks(std::vector<std::int64_t> text, std::int64_t length);

  std::int64_t size() const { return static_cast<std::int64_t>(text_->size()) - length_; }
  /// Throws std::out_of_range for an index outside [0, size()).
  Batch get_batch(std::span<const std::int64_t> indices) const;

 private:
  std::shared_ptr<const std::vector<std::int64_t>> text_;
  std::int64_t length_;
};

/// The lines of a text, one by one. For sample i, y `[b]` is character i, which may be a line end,
/// and x `[b, length]` the characters before it on the same line, padded with line ends in front.
class LineContexts {
 public:
  /// Throws std::invalid_argument unless length > 0.
  LineContexts(std::vector<std::int64_t> text, std::int64_t line_end, std::int64_t length);

  std::int64_t size() const { return static_cast<std::int64_t>(text_->size()); }
  Batch get_batch(std::span<const std::int64_t> indices) const;

 private:
  std::shared_ptr<const std::vector<std::int64_t>> text_;
  std::int64_t line_end_;
  std::int64_t length_;
};

}  // namespace halfgrad::data
