#include <halfgrad/amp/inspector/twin_run.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <limits>
#include <ostream>
#include <sstream>
#include <unordered_map>
#include <utility>

#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/random.h>

namespace halfgrad::amp {
namespace {

using halfgrad::detail::fail;

/// Sums for the relative error of a layer's tensors, taken together:
/// sqrt(sum (low - full)^2 / sum full^2).
class RelativeError {
 public:
  void add(const std::string& what, const Array& full, const Array& low) {
    if (full.sizes() != low.sizes()) {
      fail("TwinRun", "expected one shape of {} in both runs, got {} in float32 and {}", what,
           full.sizes(), low.sizes());
    }
    const Array a = full.to(kDouble).to(Device()).contiguous();
    const Array b = low.to(kDouble).to(Device()).contiguous();
    const auto *const x = a.data_as<double>(), *const y = b.data_as<double>();
    for (std::int64_t i = 0; i < a.numel(); ++i) {
      difference_ += (y[i] - x[i]) * (y[i] - x[i]);
      reference_ += x[i] * x[i];
    }
    any_ = true;
  }

  std::optional<double> value() const {
    if (!any_) return {};
    if (difference_ == 0) return 0;
    const double error = std::sqrt(difference_ / reference_);
    return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
  }

 private:
  double difference_ = 0;
  double reference_ = 0;
  bool any_ = false;
};

std::string layer_of(const std::string& parameter) {
  const std::size_t dot = parameter.rfind('.');
  return dot == std::string::npos ? "" : parameter.substr(0, dot);
}

/// The ops of a module in one step, and the result of the last.
struct Activation {
  std::size_t ops = 0;
  std::string op = {};  // the last
  Array result = {};
};

/// One side, and the activations of its present step by module. Casts are left out: the float32 run
/// has none.
class Side : public OpObserver {
 public:
  Side(const std::function<TwinSide(bool)>& build, bool low_precision, std::uint64_t seed) {
    manual_seed(seed);
    side_ = build(low_precision);
    if (!side_.step) fail("TwinRun", "expected a step function from build, got none");
    random_ = default_generator().get_state();
  }

  /// Makes a step. With `other`, which has made it, a module's activation is the result of as many
  /// ops as there: the product of loss and scale comes after them.
  std::optional<double> step(std::int64_t i, const Side* other = nullptr) {
    activations_.clear();
    other_ = other;
    default_generator().set_state(random_);
    const OpObserverGuard guard(*this);
    const Tensor loss = side_.step(i);
    random_ = default_generator().get_state();
    return loss.defined() ? std::optional(loss.item<double>()) : std::nullopt;
  }

  void ran(const OpCall& call) override {
    if (call.in_backward || !call.result.is_floating_point() || std::string(call.op) == "to")
      return;
    const std::string module = side_.model.running_module();
    if (std::find(modules_.begin(), modules_.end(), module) == modules_.end()) {
      modules_.push_back(module);
    }
    Activation& activation = activations_[module];
    if (other_ != nullptr && activation.ops == other_->activation(module).ops) return;
    ++activation.ops;
    activation.op = call.op;
    activation.result = call.result.array().clone();
  }

  const NamedModel& model() const { return side_.model; }
  /// Modules in the order of their first ops.
  const std::vector<std::string>& modules() const { return modules_; }
  const Activation& activation(const std::string& module) const {
    static const Activation none;
    const auto found = activations_.find(module);
    return found == activations_.end() ? none : found->second;
  }

 private:
  TwinSide side_;
  RandomKey random_{};
  const Side* other_ = nullptr;
  std::vector<std::string> modules_;
  std::unordered_map<std::string, Activation> activations_;
};

/// Puts default_generator() back.
class RandomStateGuard {
 public:
  RandomStateGuard() = default;
  ~RandomStateGuard() { default_generator().set_state(before_); }
  RandomStateGuard(const RandomStateGuard&) = delete;
  RandomStateGuard& operator=(const RandomStateGuard&) = delete;

 private:
  const RandomKey before_ = default_generator().get_state();
};

void expect_same_parameters(const NamedModel& full, const NamedModel& low) {
  const auto &a = full.parameters(), &b = low.parameters();
  const bool same = std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto& x, auto& y) {
    return x.first == y.first && x.second.sizes() == y.second.sizes();
  });
  if (!same) {
    fail("TwinRun",
         "expected the same parameters in both runs, got {} and {} with other names or shapes; "
         "build() may change dtypes only",
         a.size(), b.size());
  }
}

std::string shown_layer(const std::string& layer) { return layer.empty() ? "(top level)" : layer; }

TwinErrors errors_of(const std::string& layer, const Side& full, const Side& low) {
  RelativeError activation, gradient, weight;
  const Activation &a = full.activation(layer), &b = low.activation(layer);
  if (a.ops != b.ops || a.op != b.op) {
    fail("TwinRun",
         "expected the same ops in both runs, got {} in {} with {} last in float32, and {} with {} "
         "last; build() may change dtypes only",
         a.ops, shown_layer(layer), a.op, b.ops, b.op);
  }
  if (a.ops > 0) activation.add("the activation of " + shown_layer(layer), a.result, b.result);
  for (std::size_t i = 0; i < full.model().parameters().size(); ++i) {
    const auto& [name, parameter] = full.model().parameters()[i];
    if (layer_of(name) != layer) continue;
    const Tensor& other = low.model().parameters()[i].second;
    weight.add(name, parameter.array(), other.array());
    const Tensor grad = parameter.grad(), low_grad = other.grad();
    if (grad.defined() && low_grad.defined()) gradient.add(name, grad.array(), low_grad.array());
  }
  return {activation.value(), gradient.value(), weight.value()};
}

std::string shown(const std::optional<double>& error) {
  if (!error) return "";
  std::ostringstream text;
  text << std::setprecision(3) << *error;
  return text.str();
}

}  // namespace

std::string_view name(TwinQuantity quantity) {
  constexpr std::string_view kNames[] = {"activation", "gradient", "weight"};
  return kNames[static_cast<std::size_t>(quantity)];
}

TwinRun::TwinRun(const std::function<TwinSide(bool)>& build, const TwinOptions& options)
    : bound_(options.bound) {
  if (options.steps < 1) fail("TwinRun", "expected at least one step, got {}", options.steps);
  if (!(options.bound >= 0)) fail("TwinRun", "expected a bound >= 0, got {}", options.bound);
  const RandomStateGuard guard;
  Side full(build, false, options.seed), low(build, true, options.seed);
  expect_same_parameters(full.model(), low.model());
  for (std::int64_t i = 0; i < options.steps; ++i) {
    TwinStep step{full.step(i), low.step(i, &full)};
    if (i == 0) {
      layers_ = full.modules();
      for (const auto& [name, parameter] : full.model().parameters()) {
        const std::string layer = layer_of(name);
        if (std::find(layers_.begin(), layers_.end(), layer) == layers_.end()) {
          layers_.push_back(layer);
        }
      }
    }
    for (const std::string& layer : layers_) step.layers.push_back(errors_of(layer, full, low));
    steps_.push_back(std::move(step));
  }
}

std::optional<TwinDeviation> TwinRun::first_beyond(double bound) const {
  const auto is_beyond = [&](const std::optional<double>& error) {
    return error && *error > bound;
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto found = [&](std::size_t layer, TwinQuantity quantity, double error) {
      return TwinDeviation{static_cast<std::int64_t>(i), layers_[layer], quantity, error};
    };
    const std::vector<TwinErrors>& errors = steps_[i].layers;
    for (std::size_t k = 0; k < errors.size(); ++k) {
      if (is_beyond(errors[k].activation)) {
        return found(k, TwinQuantity::activation, *errors[k].activation);
      }
    }
    for (std::size_t k = errors.size(); k-- > 0;) {
      if (is_beyond(errors[k].gradient)) {
        return found(k, TwinQuantity::gradient, *errors[k].gradient);
      }
    }
    for (std::size_t k = 0; k < errors.size(); ++k) {
      if (is_beyond(errors[k].weight)) return found(k, TwinQuantity::weight, *errors[k].weight);
    }
  }
  return {};
}

std::string explain(const TwinDeviation& deviation) {
  return "step " + std::to_string(deviation.step) + ": " + std::string(name(deviation.quantity)) +
         " of " + shown_layer(deviation.layer) + ", relative error " + shown(deviation.error);
}

std::ostream& operator<<(std::ostream& out, const TwinRun& twin) {
  const auto row = [&out](const std::string& layer, const std::string& activation,
                          const std::string& gradient, const std::string& weight) {
    out << std::left << std::setw(32) << layer << std::right << std::setw(12) << activation
        << std::setw(12) << gradient << std::setw(12) << weight << '\n';
  };
  const TwinStep& last = twin.steps().back();
  row("relative error of", "activation", "gradient", "weight");
  for (std::size_t i = 0; i < twin.layers().size(); ++i) {
    const TwinErrors& errors = last.layers[i];
    row(shown_layer(twin.layers()[i]), shown(errors.activation), shown(errors.gradient),
        shown(errors.weight));
  }
  out << "These are the errors of step " << twin.steps().size() - 1 << ", against float32.";
  if (last.loss && last.low_loss) {
    out << " Its loss is " << shown(last.loss) << " in float32 and " << shown(last.low_loss)
        << " in low precision.";
  }
  const std::optional<TwinDeviation> first = twin.first_beyond();
  const std::string bound = halfgrad::detail::message_part(twin.bound());
  return out << '\n'
             << (first ? "The first error beyond " + bound + " is in " + explain(*first) + "."
                       : "No error is beyond " + bound + ".")
             << '\n';
}

}  // namespace halfgrad::amp
