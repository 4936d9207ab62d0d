#include <halfgrad/data/confusion_matrix.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::data {
namespace {

using halfgrad::detail::fail;

constexpr std::size_t kMostColumns = 12;

/// The elements of a square matrix, checked.
struct Counts {
  std::vector<std::int64_t> values;
  std::size_t classes;

  Counts(const Tensor& matrix, const char* op)
      : values(matrix.to_vector<std::int64_t>()),
        classes(matrix.dim() == 2 ? static_cast<std::size_t>(matrix.size(0)) : 0) {
    if (matrix.dim() != 2 || matrix.size(0) != matrix.size(1) || matrix.is_floating_point()) {
      fail(op, "expected a confusion matrix [classes, classes] of counts, got {} of {}",
           matrix.sizes(), matrix.dtype());
    }
  }
  std::int64_t at(std::size_t row, std::size_t column) const {
    return values[row * classes + column];
  }
  std::int64_t row(std::size_t i) const {
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < classes; ++j) sum += at(i, j);
    return sum;
  }
  std::int64_t column(std::size_t j) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < classes; ++i) sum += at(i, j);
    return sum;
  }
};

double ratio(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(part) / static_cast<double>(whole);
}

/// Number of characters, not bytes, of a text in UTF-8.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string left(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, width(text)), ' ');
}

std::string right(const std::string& text, std::size_t columns) {
  return "  " + std::string(columns - std::min(columns, width(text)), ' ') + text;
}

std::string shown(double score) {
  if (std::isnan(score)) return "-";
  char text[16];
  std::snprintf(text, sizeof text, "%.3f", score);
  return text;
}

}  // namespace

Tensor confusion_matrix(const Tensor& logits, const Tensor& target) {
  if (logits.dim() != 2 || !logits.is_floating_point() || target.dim() != 1 ||
      target.is_floating_point() || target.size(0) != logits.size(0) || logits.size(1) == 0) {
    fail("confusion_matrix",
         "expected logits [n, classes] and integer targets [n], got {} of {} and {} of {}",
         logits.sizes(), logits.dtype(), target.sizes(), target.dtype());
  }
  const std::int64_t classes = logits.size(1);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes * classes));
  const auto predicted = argmax(logits.detach(), 1).to_vector<std::int64_t>();
  const auto truth = target.to_vector<std::int64_t>();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] < 0 || truth[i] >= classes) {
      fail("confusion_matrix", "expected targets in [0, {}), got {} for sample {}", classes,
           truth[i], i);
    }
    ++counts[static_cast<std::size_t>(truth[i] * classes + predicted[i])];
  }
  return tensor(counts, {classes, classes}, {.device = kCPU});
}

std::vector<ClassScores> class_scores(const Tensor& confusion_matrix) {
  const Counts counts(confusion_matrix, "class_scores");
  std::vector<ClassScores> scores;
  for (std::size_t i = 0; i < counts.classes; ++i) {
    const std::int64_t right = counts.at(i, i), support = counts.row(i);
    const std::int64_t predicted = counts.column(i);
    scores.push_back({.support = support,
                      .precision = ratio(right, predicted),
                      .recall = ratio(right, support),
                      .f1 = ratio(2 * right, predicted + support)});
  }
  return scores;
}

double accuracy(const Tensor& confusion_matrix) {
  const Counts counts(confusion_matrix, "accuracy");
  std::int64_t right = 0, all = 0;
  for (std::size_t i = 0; i < counts.classes; ++i) {
    right += counts.at(i, i);
    all += counts.row(i);
  }
  return ratio(right, all);
}

std::string classification_report(const Tensor& confusion_matrix,
                                  const std::vector<std::string>& class_names) {
  const Counts counts(confusion_matrix, "classification_report");
  if (class_names.size() != counts.classes) {
    fail("classification_report", "expected a name for each of {} classes, got {}", counts.classes,
         class_names.size());
  }
  const bool has_matrix = counts.classes <= kMostColumns;
  constexpr const char* kScores[] = {"precision", "recall", "f1", "samples"};
  constexpr std::size_t kWidths[] = {9, 6, 5, 7};
  std::size_t first = 5;  // columns of "class"
  for (const std::string& name : class_names) first = std::max(first, width(name));

  std::string text = has_matrix ? left("", first) + "  predicted as\n" : "";
  text += left("class", first);
  std::vector<std::size_t> widths;
  for (std::size_t j = 0; has_matrix && j < counts.classes; ++j) {
    widths.push_back(std::max(width(class_names[j]), std::to_string(counts.column(j)).size()));
    text += right(class_names[j], widths[j]);
  }
  for (std::size_t k = 0; k < 4; ++k) text += right(kScores[k], kWidths[k]);
  text += '\n';
  const std::vector<ClassScores> scores = class_scores(confusion_matrix);
  for (std::size_t i = 0; i < counts.classes; ++i) {
    text += left(class_names[i], first);
    for (std::size_t j = 0; j < widths.size(); ++j) {
      text += right(std::to_string(counts.at(i, j)), widths[j]);
    }
    const auto& [support, precision, recall, f1] = scores[i];
    text += right(shown(precision), kWidths[0]) + right(shown(recall), kWidths[1]) +
            right(shown(f1), kWidths[2]) + right(std::to_string(support), kWidths[3]) + '\n';
  }
  return text + "accuracy " + shown(accuracy(confusion_matrix)) + '\n';
}

}  // namespace halfgrad::data
