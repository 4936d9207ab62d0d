#include <halfgrad/data/text.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/files/read_file.h>

namespace halfgrad::data {
namespace {

void check_index(const char* owner, std::int64_t index, std::int64_t size) {
  if (index >= 0 && index < size) return;
  halfgrad::detail::fail<std::out_of_range>(owner, "expected an index in [0, {}), got {}", size,
                                            index);
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  return files::read_file<std::string>(path, "read_text");
}

Alphabet::Alphabet(std::string_view text) {
  const std::set<unsigned char> characters(text.begin(), text.end());
  characters_.assign(characters.begin(), characters.end());
}

std::vector<std::int64_t> Alphabet::encode(std::string_view text) const {
  std::vector<std::int64_t> indices;
  indices.reserve(text.size());
  for (const char character : text) {
    const std::size_t index = characters_.find(character);
    if (index == std::string::npos) {
      halfgrad::detail::fail("Alphabet", "expected one of its {} characters, got '{}'", size(),
                             std::string_view(&character, 1));
    }
    indices.push_back(static_cast<std::int64_t>(index));
  }
  return indices;
}

std::string Alphabet::decode(std::span<const std::int64_t> indices) const {
  std::string text;
  for (const std::int64_t index : indices) {
    check_index("Alphabet", index, size());
    text += characters_[static_cast<std::size_t>(index)];
  }
  return text;
}

TextBlocks::TextBlocks(std::vector<std::int64_t> text, std::int64_t length)
    : text_(std::make_shared<const std::vector<std::int64_t>>(std::move(text))), length_(length) {
  if (length > 0 && length < std::ssize(*text_)) return;
  halfgrad::detail::fail("TextBlocks", "expected 0 < length < {}, the size of the text, got {}",
                         std::ssize(*text_), length);
}

Batch TextBlocks::get_batch(std::span<const std::int64_t> indices) const {
  std::vector<std::int64_t> x, y;
  for (const std::int64_t index : indices) {
    check_index("TextBlocks", index, size());
    const auto first = text_->begin() + index;
    x.insert(x.end(), first, first + length_);
    y.insert(y.end(), first + 1, first + length_ + 1);
  }
  const Shape sizes{std::ssize(indices), length_};
  return {tensor(x, sizes), tensor(y, sizes)};
}

LineContexts::LineContexts(std::vector<std::int64_t> text, std::int64_t line_end,
                           std::int64_t length)
    : text_(std::make_shared<const std::vector<std::int64_t>>(std::move(text))),
      line_end_(line_end),
      length_(length) {
  if (length < 1) halfgrad::detail::fail("LineContexts", "expected length > 0, got {}", length);
}

Batch LineContexts::get_batch(std::span<const std::int64_t> indices) const {
  std::vector<std::int64_t> x(indices.size() * static_cast<std::size_t>(length_), line_end_), y;
  auto context_end = x.begin();
  for (const std::int64_t index : indices) {
    check_index("LineContexts", index, size());
    const auto target = text_->begin() + index;
    const auto window = target - std::min(index, length_);
    // Searches backwards from the target for the end of the previous line.
    const auto previous = std::find(std::make_reverse_iterator(target),
                                    std::make_reverse_iterator(window), line_end_);
    context_end += length_;
    std::copy_backward(previous.base(), target, context_end);
    y.push_back(*target);
  }
  return {tensor(x, {std::ssize(indices), length_}), tensor(y)};
}

}  // namespace halfgrad::data
