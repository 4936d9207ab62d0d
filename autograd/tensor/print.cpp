#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <ostream>
#include <sstream>
#include <string>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad {
namespace {

constexpr std::int64_t kShownInFull = 1000;
constexpr std::int64_t kEdge = 3;
constexpr int kLineWidth = 80;

class Printer {
 public:
  Printer(std::ostream& out, const Array& array)
      : out_(out),
        dtype_(array.dtype()),
        numbers_(array.to(Device())
                     .to(is_floating_point(dtype_) ? DType::f64 : DType::i64)
                     .contiguous()),
        summarized_(array.numel() > kShownInFull) {
    choose_notation();
    visit_shown(0, 0, [this](std::int64_t at) { width_ = std::max(width_, text(at).size()); });
  }

  void print() { print(0, 0); }
  bool summarized() const { return summarized_; }

 private:
  // Fixed point, unless small values would print as 0 or large ones would be too long.
  void choose_notation() {
    if (!is_floating_point(dtype_)) return;
    double largest = 0;
    double smallest = std::numeric_limits<double>::infinity();
    visit_shown(0, 0, [&](std::int64_t at) {
      const double x = std::abs(numbers_.data_as<double>()[at]);
      if (!std::isfinite(x) || x == 0) return;
      largest = std::max(largest, x);
      smallest = std::min(smallest, x);
    });
    scientific_ = largest > 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1e3);
  }

  std::string text(std::int64_t at) const {
    std::ostringstream stream;
    stream << std::setprecision(4) << (scientific_ ? std::scientific : std::fixed);
    if (dtype_ == DType::boolean) {
      stream << std::boolalpha << (numbers_.data_as<std::int64_t>()[at] != 0);
    } else if (is_floating_point(dtype_)) {
      const double x = numbers_.data_as<double>()[at];
      stream << (std::isnan(x) ? std::abs(x) : x);  // not "-nan"
    } else {
      stream << numbers_.data_as<std::int64_t>()[at];
    }
    return stream.str();
  }

  bool leaves_out(int dim) const { return summarized_ && numbers_.sizes()[dim] > 2 * kEdge; }

  // Calls f(index) for the indices of dimension `dim` that are shown.
  template <class F>
  void for_each_index(int dim, const F& f) const {
    const std::int64_t size = numbers_.sizes()[dim];
    for (std::int64_t i = 0; i < size; ++i) {
      if (leaves_out(dim) && i == kEdge) i = size - kEdge;
      f(i);
    }
  }

  template <class F>
  void visit_shown(int dim, std::int64_t at, const F& f) const {
    if (dim == numbers_.ndim()) return f(at);
    for_each_index(
        dim, [&](std::int64_t i) { visit_shown(dim + 1, at + i * numbers_.strides()[dim], f); });
  }

  void print(int dim, std::int64_t at) {
    if (dim == numbers_.ndim()) {
      out_ << std::setw(static_cast<int>(width_)) << text(at);
      return;
    }
    const bool innermost = dim + 1 == numbers_.ndim();
    const int columns = std::max(1, (kLineWidth - dim - 1) / (static_cast<int>(width_) + 2));
    // One more blank line for every dimension that ends here.
    const auto breaks = static_cast<std::size_t>(innermost ? 1 : numbers_.ndim() - dim - 1);
    const std::string next_line =
        std::string(breaks, '\n') + std::string(static_cast<std::size_t>(dim + 1), ' ');
    int printed = 0;
    const auto separate = [&] {
      if (printed > 0) out_ << ',';
      if (printed > 0) out_ << (innermost && printed % columns != 0 ? " " : next_line);
      ++printed;
    };
    out_ << '[';
    for_each_index(dim, [&](std::int64_t i) {
      if (leaves_out(dim) && i == numbers_.sizes()[dim] - kEdge) {
        separate();
        out_ << "...";
      }
      separate();
      print(dim + 1, at + i * numbers_.strides()[dim]);
    });
    out_ << ']';
  }

  std::ostream& out_;
  DType dtype_;
  Array numbers_;
  bool summarized_;
  bool scientific_ = false;
  std::size_t width_ = 0;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.defined()) return out << "undefined";
  Printer printer(out, tensor.array());
  printer.print();
  std::string notes;
  const auto note = [&notes](const std::string& text) {
    notes += (notes.empty() ? "" : ", ") + text;
  };
  const DType dtype = tensor.dtype();
  if (dtype != DType::f32 && dtype != DType::i64 && dtype != DType::boolean) {
    note("dtype=" + std::string(name(dtype)));
  }
  if (printer.summarized() || tensor.numel() == 0) note("shape=" + to_string(tensor.sizes()));
  if (!tensor.is_leaf()) {
    note("grad_fn=<" + tensor.grad_fn_name() + ">");
  } else if (tensor.requires_grad()) {
    note("requires_grad=true");
  }
  if (!notes.empty()) out << " (" << notes << ')';
  return out;
}

std::ostream& operator<<(std::ostream& out, Layout /*layout*/) { return out << "Strided"; }

std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  return out << "TensorOptions(dtype=" << options.dtype() << ", device=" << options.device()
             << ", requires_grad=" << (options.requires_grad() ? "true" : "false") << ')';
}

}  // namespace halfgrad
