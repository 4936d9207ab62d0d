#include <halfgrad/optim/optim.h>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/param_groups.h>

/// The optimizers beside SGD and Adam, with PyTorch's order of arguments.
namespace halfgrad::python {
namespace {

using optim::Optimizer;
using Betas = std::pair<double, double>;
constexpr Betas kBetas{0.9, 0.999};

void bind_rmsprop(nb::module_& optim) {
  nb::class_<optim::RMSprop, Optimizer>(optim, "RMSprop", "RMSprop (Hinton 2012).")
      .def(
          "__init__",
          [](optim::RMSprop* self, nb::handle params, double lr, double alpha, double eps,
             double weight_decay, double momentum, bool centered, bool maximize, Ignored) {
            new (self) optim::RMSprop(
                groups_of(params), optim::RMSpropArguments{lr, alpha, eps, weight_decay, momentum,
                                                           centered, maximize});
          },
          "params"_a, "lr"_a = 1e-2, "alpha"_a = 0.99, "eps"_a = 1e-8, "weight_decay"_a = 0.0,
          "momentum"_a = 0.0, "centered"_a = false, nb::kw_only(), "maximize"_a = false,
          implementation("foreach"));
}

void bind_adagrad(nb::module_& optim) {
  nb::class_<optim::Adagrad, Optimizer>(optim, "Adagrad", "Adagrad (Duchi et al. 2011).")
      .def(
          "__init__",
          [](optim::Adagrad* self, nb::handle params, double lr, double lr_decay,
             double weight_decay, double initial, double eps, bool maximize, Ignored, Ignored) {
            new (self) optim::Adagrad(
                groups_of(params),
                optim::AdagradArguments{lr, lr_decay, weight_decay, initial, eps, maximize});
          },
          "params"_a, "lr"_a = 1e-2, "lr_decay"_a = 0.0, "weight_decay"_a = 0.0,
          "initial_accumulator_value"_a = 0.0, "eps"_a = 1e-10, nb::kw_only(), "maximize"_a = false,
          implementation("foreach"), implementation("fused"));
}

void bind_adadelta(nb::module_& optim) {
  nb::class_<optim::Adadelta, Optimizer>(optim, "Adadelta", "Adadelta (Zeiler 2012).")
      .def(
          "__init__",
          [](optim::Adadelta* self, nb::handle params, double lr, double rho, double eps,
             double weight_decay, bool maximize, Ignored) {
            new (self) optim::Adadelta(
                groups_of(params), optim::AdadeltaArguments{lr, rho, eps, weight_decay, maximize});
          },
          "params"_a, "lr"_a = 1.0, "rho"_a = 0.9, "eps"_a = 1e-6, "weight_decay"_a = 0.0,
          nb::kw_only(), "maximize"_a = false, implementation("foreach"));
}

void bind_adamax(nb::module_& optim) {
  nb::class_<optim::Adamax, Optimizer>(optim, "Adamax", "Adamax (Kingma and Ba 2015).")
      .def(
          "__init__",
          [](optim::Adamax* self, nb::handle params, double lr, Betas betas, double eps,
             double weight_decay, bool maximize, Ignored) {
            new (self) optim::Adamax(
                groups_of(params), optim::AdamaxArguments{lr, betas, eps, weight_decay, maximize});
          },
          "params"_a, "lr"_a = 2e-3, "betas"_a = kBetas, "eps"_a = 1e-8, "weight_decay"_a = 0.0,
          nb::kw_only(), "maximize"_a = false, implementation("foreach"));
}

void bind_radam(nb::module_& optim) {
  nb::class_<optim::RAdam, Optimizer>(optim, "RAdam",
                                      "Adam with a rectified adaptive rate (Liu et al. 2020).")
      .def(
          "__init__",
          [](optim::RAdam* self, nb::handle params, double lr, Betas betas, double eps,
             double weight_decay, bool decoupled, bool maximize, Ignored) {
            new (self) optim::RAdam(
                groups_of(params),
                optim::RAdamArguments{lr, betas, eps, weight_decay, decoupled, maximize});
          },
          "params"_a, "lr"_a = 1e-3, "betas"_a = kBetas, "eps"_a = 1e-8, "weight_decay"_a = 0.0,
          "decoupled_weight_decay"_a = false, nb::kw_only(), "maximize"_a = false,
          implementation("foreach"));
}

void bind_nadam(nb::module_& optim) {
  nb::class_<optim::NAdam, Optimizer>(optim, "NAdam", "Adam with Nesterov momentum (Dozat 2016).")
      .def(
          "__init__",
          [](optim::NAdam* self, nb::handle params, double lr, Betas betas, double eps,
             double weight_decay, double momentum_decay, bool decoupled, bool maximize, Ignored) {
            new (self) optim::NAdam(groups_of(params),
                                    optim::NAdamArguments{lr, betas, eps, weight_decay,
                                                          momentum_decay, decoupled, maximize});
          },
          "params"_a, "lr"_a = 2e-3, "betas"_a = kBetas, "eps"_a = 1e-8, "weight_decay"_a = 0.0,
          "momentum_decay"_a = 4e-3, "decoupled_weight_decay"_a = false, nb::kw_only(),
          "maximize"_a = false, implementation("foreach"));
}

void bind_lion(nb::module_& optim) {
  nb::class_<optim::Lion, Optimizer>(optim, "Lion", "Lion (Chen et al. 2023).")
      .def(
          "__init__",
          [](optim::Lion* self, nb::handle params, double lr, Betas betas, double weight_decay,
             bool maximize) {
            new (self) optim::Lion(groups_of(params),
                                   optim::LionArguments{lr, betas, weight_decay, maximize});
          },
          "params"_a, "lr"_a = 1e-4, "betas"_a = Betas(0.9, 0.99), "weight_decay"_a = 0.0,
          nb::kw_only(), "maximize"_a = false);
}

void bind_lamb(nb::module_& optim) {
  nb::class_<optim::LAMB, Optimizer>(optim, "LAMB",
                                     "Adam with a rate for each tensor (You et al. 2020).")
      .def(
          "__init__",
          [](optim::LAMB* self, nb::handle params, double lr, Betas betas, double eps,
             double weight_decay, bool maximize) {
            new (self) optim::LAMB(groups_of(params),
                                   optim::LAMBArguments{lr, betas, eps, weight_decay, maximize});
          },
          "params"_a, "lr"_a = 1e-3, "betas"_a = kBetas, "eps"_a = 1e-6, "weight_decay"_a = 1e-2,
          nb::kw_only(), "maximize"_a = false);
}

optim::MuonRate muon_rate(const std::optional<std::string>& name) {
  if (!name || *name == "original") return optim::MuonRate::original;
  if (*name == "match_rms_adamw") return optim::MuonRate::match_rms_adamw;
  if (*name == "spectral_unclamped") return optim::MuonRate::spectral_unclamped;
  detail::fail("Muon",
               "expected adjust_lr_fn \"original\", \"match_rms_adamw\" or "
               "\"spectral_unclamped\", got \"{}\"",
               *name);
}

void bind_muon(nb::module_& optim) {
  using Coefficients = std::tuple<double, double, double>;
  nb::class_<optim::Muon, Optimizer>(optim, "Muon",
                                     "Momentum with orthogonalized updates (Jordan 2024).")
      .def(
          "__init__",
          [](optim::Muon* self, nb::handle params, double lr, double weight_decay, double momentum,
             bool nesterov, Coefficients abc, double eps, std::int64_t ns_steps,
             const std::optional<std::string>& adjust_lr_fn) {
            const auto [a, b, c] = abc;
            new (self)
                optim::Muon(groups_of(params), optim::MuonArguments{lr,
                                                                    weight_decay,
                                                                    momentum,
                                                                    nesterov,
                                                                    {a, b, c},
                                                                    eps,
                                                                    ns_steps,
                                                                    muon_rate(adjust_lr_fn)});
          },
          "params"_a, "lr"_a = 1e-3, "weight_decay"_a = 0.1, "momentum"_a = 0.95,
          "nesterov"_a = true, "ns_coefficients"_a = Coefficients(3.4445, -4.7750, 2.0315),
          "eps"_a = 1e-7, "ns_steps"_a = 5, nb::arg("adjust_lr_fn") = nb::none());
}

optim::LineSearch line_search(const std::optional<std::string>& name) {
  if (!name) return optim::LineSearch::none;
  if (*name == "strong_wolfe") return optim::LineSearch::strong_wolfe;
  detail::fail("LBFGS", "expected line_search_fn None or \"strong_wolfe\", got \"{}\"", *name);
}

void bind_lbfgs(nb::module_& optim) {
  nb::class_<optim::LBFGS, Optimizer>(optim, "LBFGS", "L-BFGS (Liu and Nocedal 1989).")
      .def(
          "__init__",
          [](optim::LBFGS* self, nb::handle params, double lr, std::int64_t max_iter,
             std::optional<std::int64_t> max_eval, double tolerance_grad, double tolerance_change,
             std::int64_t history_size, const std::optional<std::string>& line_search_fn,
             bool maximize) {
            new (self) optim::LBFGS(
                groups_of(params),
                optim::LBFGSArguments{lr, max_iter, max_eval, tolerance_grad, tolerance_change,
                                      history_size, line_search(line_search_fn), maximize});
          },
          "params"_a, "lr"_a = 1.0, "max_iter"_a = 20, nb::arg("max_eval") = nb::none(),
          "tolerance_grad"_a = 1e-7, "tolerance_change"_a = 1e-9, "history_size"_a = 100,
          nb::arg("line_search_fn") = nb::none(), nb::kw_only(), "maximize"_a = false);
}

}  // namespace

void bind_formula_optimizers(nb::module_& optim) {
  bind_rmsprop(optim);
  bind_adagrad(optim);
  bind_adadelta(optim);
  bind_adamax(optim);
  bind_radam(optim);
  bind_nadam(optim);
  bind_lion(optim);
  bind_lamb(optim);
  bind_muon(optim);
  bind_lbfgs(optim);
}

}  // namespace halfgrad::python
