#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parallel_training.h"

/// A communicator that tells a test which collectives a model starts.
namespace halfgrad::dist {

// Notes each collective before it starts, with the sizes of its array.
class Recorder final : public Communicator {
 public:
  Recorder(Communicator& inner, std::vector<std::string>& events)
      : inner_(inner), events_(events) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::string name_of(int rank) const override { return inner_.name_of(rank); }
  Work all_reduce(const Array& array, ReduceOp op) override {
    events_.push_back("all_reduce " + std::to_string(array.numel()) + ' ' +
                      std::string(name(array.dtype())));
    return inner_.all_reduce(array, op);
  }
  Work reduce_scatter(const Array& output, const Array& input, ReduceOp op) override {
    return inner_.reduce_scatter(output, input, op);
  }
  Work all_gather(const Array& output, const Array& input) override {
    return inner_.all_gather(output, input);
  }
  Work broadcast(const Array& array, int root) override {
    events_.push_back("broadcast " + std::to_string(array.numel()));
    return inner_.broadcast(array, root);
  }
  void barrier() override { inner_.barrier(); }

 private:
  Communicator& inner_;
  std::vector<std::string>& events_;
};

using Events = std::vector<std::string>;

// Runs f(model, events, communicator) on each rank; returns the events by rank.
template <class Make, class F>
std::vector<Events> record(int ranks, const Make& make, const DataParallelOptions& options,
                           const F& f) {
  return on_models(ranks, make, [&](Communicator& c, const auto& module) {
    Events events;
    DataParallel model(module, std::make_shared<Recorder>(c, events), options);
    events.clear();
    f(model, events, c);
    return events;
  });
}

// Uses its parameters in one of two orders: the gradients are complete in the reverse.
struct Either : nn::Callable<Either> {
  Tensor a = register_parameter("a", full({100}, 1.0));
  Tensor b = register_parameter("b", full({200}, 1.0));
  Tensor c = register_parameter("c", full({300}, 1.0));
  Tensor forward(bool a_first, double x) const {
    const auto use = [x](const Tensor& w) { return sum(w * x); };
    if (a_first) {
      const Tensor of_c = use(c), of_b = use(b);
      return of_c + of_b + use(a);
    }
    const Tensor of_a = use(a), of_b = use(b);
    return of_a + of_b + use(c);
  }
};

}  // namespace halfgrad::dist
