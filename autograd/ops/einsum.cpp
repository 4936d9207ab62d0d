#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

// Each character names a dimension: a letter of the equation, or a digit for a dimension that the
// ellipsis stands for, '7' for the last. In ASCII order the digits come first, from left to right.
using Labels = std::string;

struct Factor {
  Tensor tensor;
  Labels labels;
};

struct Equation {
  std::vector<Factor> factors;
  Labels result;
};

using LabelSizes = std::map<char, std::int64_t>;

constexpr char kEllipsis = '.';

bool contains(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }

std::string spelled(char label) {
  return label >= '0' && label <= '9' ? "..." : std::string{'\'', label, '\''};
}

// Returns the labels of a term, without spaces and with kEllipsis for "...".
Labels term(std::string_view text) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool ellipsis = text.substr(i, 3) == "..." && !contains(labels, kEllipsis);
    if (c == ' ') continue;
    if (!ellipsis && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) {
      detail::fail("einsum", "expected letters and at most one ... in a term, got '{}'", text);
    }
    labels += c;
    if (ellipsis) i += 2;
  }
  return labels;
}

Labels with_digits(Labels labels, std::int64_t ellipsis_dims) {
  const std::size_t at = labels.find(kEllipsis);
  if (at == Labels::npos) return labels;
  Labels digits;
  for (std::int64_t i = kMaxDims - ellipsis_dims; i < kMaxDims; ++i) {
    digits += static_cast<char>('0' + i);
  }
  return labels.replace(at, 1, digits);
}

std::int64_t ellipsis_dims_of(const Labels& labels, const Tensor& tensor) {
  const bool ellipsis = contains(labels, kEllipsis);
  const std::int64_t dims = tensor.dim() - std::ssize(labels) + (ellipsis ? 1 : 0);
  if (dims < 0 || (!ellipsis && dims > 0)) {
    detail::fail("einsum", "expected {} for each dimension of shape {}, got '{}'",
                 ellipsis ? "at most one letter" : "a letter", tensor.sizes(), labels);
  }
  return dims;
}

// Returns the dimensions of the ellipsis, then the letters that occur once.
Labels implicit_result(const std::vector<Factor>& factors, std::int64_t ellipsis_dims) {
  Labels all;
  for (const Factor& factor : factors) all += factor.labels;
  Labels result = with_digits(Labels(1, kEllipsis), ellipsis_dims);
  for (const char label : all) {
    if (label >= 'A' && std::count(all.begin(), all.end(), label) == 1) result += label;
  }
  std::sort(result.begin(), result.end());
  return result;
}

void expect_result(const Labels& result, const std::vector<Factor>& factors) {
  for (const char label : result) {
    const bool known = std::any_of(factors.begin(), factors.end(), [=](const Factor& factor) {
      return contains(factor.labels, label);
    });
    if (!known || std::count(result.begin(), result.end(), label) > 1) {
      detail::fail("einsum", "expected letters of the operands, each once, after ->, got {}",
                   spelled(label));
    }
  }
}

Equation parsed(std::string_view text, const std::vector<Tensor>& tensors) {
  const std::size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  const std::int64_t terms = std::count(left.begin(), left.end(), ',') + 1;
  if (terms != std::ssize(tensors)) {
    detail::fail("einsum", "expected {} tensors for '{}', got {}", terms, text, tensors.size());
  }
  Equation equation;
  std::int64_t ellipsis_dims = 0;
  for (const Tensor& tensor : tensors) {
    const std::size_t comma = left.find(',');
    const Labels labels = term(left.substr(0, comma));
    const std::int64_t dims = ellipsis_dims_of(labels, tensor);
    ellipsis_dims = std::max(ellipsis_dims, dims);
    equation.factors.push_back({tensor, with_digits(labels, dims)});
    if (comma != std::string_view::npos) left.remove_prefix(comma + 1);
  }
  equation.result = arrow == std::string_view::npos
                        ? implicit_result(equation.factors, ellipsis_dims)
                        : with_digits(term(text.substr(arrow + 2)), ellipsis_dims);
  expect_result(equation.result, equation.factors);
  return equation;
}

// Takes the diagonal of the dimensions of a label that occurs twice, until each occurs once.
Factor with_diagonals(Factor factor) {
  auto& [tensor, labels] = factor;
  for (std::size_t i = 0; i < labels.size();) {
    const char label = labels[i];
    const std::size_t again = labels.find(label, i + 1);
    if (again == Labels::npos) {
      ++i;
      continue;
    }
    const auto first = static_cast<std::int64_t>(i), second = static_cast<std::int64_t>(again);
    if (tensor.size(first) != tensor.size(second)) {
      detail::fail("einsum", "expected equal sizes of {} in an operand, got {} and {}",
                   spelled(label), tensor.size(first), tensor.size(second));
    }
    tensor = diagonal(tensor, 0, first, second);
    labels.erase(again, 1);
    labels.erase(i, 1);
    labels += label;
  }
  return factor;
}

LabelSizes sizes_of(const std::vector<Factor>& factors) {
  LabelSizes sizes;
  for (const auto& [tensor, labels] : factors) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::int64_t size = tensor.size(static_cast<std::int64_t>(i));
      std::int64_t& common = sizes.try_emplace(labels[i], size).first->second;
      if (common == 1) common = size;
      if (size != 1 && size != common) {
        detail::fail("einsum", "expected sizes of {} that are equal or 1, got {} and {}",
                     spelled(labels[i]), common, size);
      }
    }
  }
  return sizes;
}

// Removes the dimensions of size 1 that are broadcast.
Factor squeezed(const Factor& factor, const LabelSizes& sizes) {
  Factor result{factor.tensor, {}};
  for (const char label : factor.labels) {
    const std::int64_t dim = std::ssize(result.labels);
    if (result.tensor.size(dim) == sizes.at(label)) {
      result.labels += label;
    } else {
      result.tensor = squeeze(result.tensor, dim);
    }
  }
  return result;
}

// Sums over the labels that are not in `kept`.
Factor summed(const Factor& factor, const Labels& kept) {
  Shape dims;
  Labels rest;
  for (int i = 0; i < std::ssize(factor.labels); ++i) {
    const char label = factor.labels[static_cast<std::size_t>(i)];
    if (contains(kept, label)) {
      rest += label;
    } else {
      dims.push_back(i);
    }
  }
  return dims.empty() ? factor : Factor{sum(factor.tensor, dims), rest};
}

Tensor arranged(const Factor& factor, const Labels& order) {
  Shape dims;
  for (const char label : order) {
    dims.push_back(static_cast<std::int64_t>(factor.labels.find(label)));
  }
  return permute(factor.tensor, dims);
}

// Returns the size of each label, or 1 if the factor does not have it.
Shape sizes_in(const Labels& labels, const Factor& factor, const LabelSizes& sizes) {
  Shape shape;
  for (const char label : labels) {
    shape.push_back(contains(factor.labels, label) ? sizes.at(label) : 1);
  }
  return shape;
}

std::int64_t count(const Labels& labels, const LabelSizes& sizes) {
  std::int64_t product = 1;
  for (const char label : labels) product *= sizes.at(label);
  return product;
}

// Multiplies two factors and sums over `inner`, the labels of both that are not in `kept`:
//     C[batch, left, right] = sum_inner A[batch, left, inner] B[batch, inner, right]
// Without inner labels the product is elementwise.
Factor multiplied(const Factor& first, const Factor& second, const Labels& kept,
                  const LabelSizes& sizes) {
  const Factor a = summed(first, kept + second.labels);
  const Factor b = summed(second, kept + first.labels);
  Labels batch, inner, left, right;
  for (const char label : a.labels) {
    (!contains(b.labels, label) ? left : contains(kept, label) ? batch : inner) += label;
  }
  for (const char label : b.labels) {
    if (!contains(a.labels, label)) right += label;
  }
  const Labels labels = batch + left + right;
  if (std::ssize(labels) > kMaxDims) {
    detail::fail("einsum", "expected products of at most {} dimensions, got {}", kMaxDims,
                 labels.size());
  }
  if (inner.empty()) {
    return {reshape(arranged(a, batch + left), sizes_in(labels, a, sizes)) *
                reshape(arranged(b, batch + right), sizes_in(labels, b, sizes)),
            labels};
  }
  const auto size = [&](const Labels& of) { return count(of, sizes); };
  const Tensor product =
      bmm(reshape(arranged(a, batch + left + inner), {size(batch), size(left), size(inner)}),
          reshape(arranged(b, batch + inner + right), {size(batch), size(inner), size(right)}));
  Shape shape;
  for (const char label : labels) shape.push_back(sizes.at(label));
  return {reshape(product, shape), labels};
}

}  // namespace

// einsum("ij,jk->ik", {A, B}):  C[i, k] = sum_j A[i, j] B[j, k]
// Multiplies the factors from left to right, by ops that have gradients of their own.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& tensors) {
  std::vector<Tensor> operands = tensors;
  detail::cast_operands("einsum", Precision::tensor_core, operands);
  const detail::CastRuleScope no_rule(nullptr);
  auto [factors, result] = parsed(equation, operands);
  for (Factor& factor : factors) factor = with_diagonals(std::move(factor));
  const LabelSizes sizes = sizes_of(factors);
  Factor product = squeezed(factors.front(), sizes);
  for (std::size_t i = 1; i < factors.size(); ++i) {
    Labels kept = result;
    for (std::size_t later = i + 1; later < factors.size(); ++later) kept += factors[later].labels;
    product = multiplied(product, squeezed(factors[i], sizes), kept, sizes);
  }
  return arranged(summed(product, result), result);
}

}  // namespace halfgrad
