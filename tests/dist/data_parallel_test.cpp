#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/checkpoint.h>

#include "../message_of.h"
#include "parallel_training.h"

namespace halfgrad::dist {
namespace {

// y = x w, with the gradient x for w: `factor` is rank + 1 where ranks must differ.
struct Scale : nn::Callable<Scale> {
  Tensor w = register_parameter("w", full({4}, 1.0));
  Tensor forward(const Tensor& x) const { return sum(x * w); }
};

// Two parameters, of which a rank may use one.
struct Branches : nn::Callable<Branches> {
  Tensor a = register_parameter("a", full({2}, 1.0));
  Tensor b = register_parameter("b", full({3}, 1.0));
  Tensor c = register_parameter("c", full({1}, 1.0));
  Tensor forward(bool use_b, double x) const {
    const Tensor y = sum(a * x);
    return use_b ? y + sum(b * x) : y;
  }
};

double factor_of(const Communicator& communicator) { return communicator.rank() + 1; }

Tensor input_of(const Communicator& communicator) { return full({4}, factor_of(communicator)); }

// (1 + 2 + ... + n) / n
double average_factor(const Communicator& communicator) { return (communicator.size() + 1) / 2.0; }

// Runs f(communicator, model) on two ranks.
template <class M, class F>
void on_two(const F& f, const DataParallelOptions& options = {}) {
  on_models(
      2, [] { return M(); },
      [&](Communicator& c, const M& module) {
        DataParallel<M> model(module, shared(c), options);
        f(c, model);
        return 0;
      });
}

TEST(DataParallel, IsAHandleOfTheModule) {
  on_models(
      2, [] { return make_net(); },
      [](Communicator& c, const nn::Sequential& net) {
        const DataParallel model(net, shared(c));
        EXPECT_TRUE(model.is_same(net));
        EXPECT_TRUE(model.module().is_same(net));
        EXPECT_EQ(model.state_dict()[0].key(), "0.weight");
        return 0;
      });
}

TEST(DataParallel, AcceptsSharedPointers) {
  on_models(
      2, [] { return std::make_shared<Scale>(); },
      [](Communicator& c, const std::shared_ptr<Scale>& module) {
        const DataParallel model(module, shared(c));
        model(input_of(c)).backward();
        EXPECT_EQ(module->w.grad()[3].item(), 1.5);
        return 0;
      });
}

TEST(DataParallel, BeginsWithTheParametersAndBuffersOfRank0) {
  const auto make = [] { return nn::Sequential(nn::Linear(3, 4), nn::BatchNorm1d(4)); };
  for (const std::int64_t bytes : {1, 1 << 20}) {
    std::vector<std::vector<double>> before(3);
    const auto after = on_models(3, make, [&](Communicator& c, const nn::Sequential& net) {
      const auto r = static_cast<std::size_t>(c.rank());
      net.buffers()[0].fill_(c.rank());
      net.parameters()[0].array().copy_(
          net.parameters()[0].array().clone().transpose(0, 1).reshape({4, 3}));
      before[r] = values_of(net.parameters());
      const DataParallel model(net, shared(c), {.bucket_bytes = bytes});
      EXPECT_EQ(net.buffers()[0][0].item(), 0);
      return values_of(net.parameters());
    });
    EXPECT_NE(before[1], before[0]);
    for (const auto& values : after) EXPECT_EQ(values, before[0]);
  }
}

TEST(DataParallel, NamesTheFirstDifferenceBetweenRanks) {
  const auto error_with = [](const std::function<nn::Sequential(int)>& make) {
    std::vector<std::string> errors(3);
    on_ranks(3, [&](Communicator& c) {
      errors[static_cast<std::size_t>(c.rank())] =
          message_of([&] { const DataParallel model(make(c.rank()), shared(c)); });
    });
    EXPECT_EQ(errors[0], errors[1]);
    EXPECT_EQ(errors[0], errors[2]);
    return errors[0];
  };
  EXPECT_EQ(error_with([](int rank) {
              return nn::Sequential(nn::Linear(2, 3), nn::Linear(3, rank == 2 ? 5 : 4));
            }),
            "DataParallel: expected the same parameters, buffers and options on all ranks, got "
            "parameter 1.weight [5, 3] float32 that requires grad on rank 2, where rank 0 has "
            "parameter 1.weight [4, 3] float32 that requires grad");
  EXPECT_NE(error_with([](int rank) {
              nn::Sequential net(nn::Linear(2, 3));
              if (rank == 1) net.to(kFloat64);
              return net;
            }).find("got parameter 0.weight [3, 2] float64 that requires grad on rank 1"),
            std::string::npos);
  EXPECT_NE(error_with([](int rank) {
              return rank == 1 ? nn::Sequential(nn::Linear(2, 3), nn::Linear(3, 1))
                               : nn::Sequential(nn::Linear(2, 3));
            })
                .find("got parameter 1.weight [1, 3] float32 that requires grad on rank 1, where "
                      "rank 0 has nothing"),
            std::string::npos);
}

TEST(DataParallel, RefusesBadOptionsAndASecondOwner) {
  on_ranks(1, [](Communicator& c) {
    const Scale module;
    EXPECT_EQ(message_of([&] { const DataParallel m(module, shared(c), {.bucket_bytes = 0}); }),
              "DataParallel: expected bucket_bytes > 0, got 0");
    EXPECT_EQ(
        message_of([&] { const DataParallel m(module, shared(c), {.gradient_dtype = kFloat32}); }),
        "DataParallel: expected a gradient_dtype of float16 or bfloat16, got float32");
    EXPECT_EQ(message_of([&] { const DataParallel m(module, nullptr); }),
              "DataParallel: expected a communicator, got nullptr");
    {
      const DataParallel first(module, shared(c));
      EXPECT_EQ(
          message_of([&] { const DataParallel m(module, shared(c)); }),
          "DataParallel: expected parameters that no other DataParallel has, got 'w'; destroy "
          "the other one");
    }
    const DataParallel after(module, shared(c));
  });
}

TEST(DataParallel, AveragesTheSumThatNoSyncAddedUp) {
  on_two<Scale>([](Communicator& c, DataParallel<Scale>& model) {
    {
      const NoSync guard = model.no_sync();
      model(input_of(c)).backward();
      EXPECT_EQ(model.module().w.grad()[0].item(), factor_of(c));
      model(input_of(c)).backward();
    }
    EXPECT_EQ(model.module().w.grad()[0].item(), 2 * factor_of(c));
    model(input_of(c) * 10).backward();
    EXPECT_EQ(model.module().w.grad()[3].item(), 12 * average_factor(c));
    model(input_of(c)).backward();  // adds to the average
    EXPECT_EQ(model.module().w.grad()[3].item(), 13 * average_factor(c));
  });
}

TEST(DataParallel, CountsAGradientOfNoSyncAsUsed) {
  on_two<Branches>([](Communicator& c, DataParallel<Branches>& model) {
    model.module().c.requires_grad_(false);
    {
      const NoSync guard = model.no_sync();
      model(true, factor_of(c)).backward();
    }
    model(false, factor_of(c)).backward();
    EXPECT_EQ(model.module().a.grad()[0].item(), 3);
    EXPECT_EQ(model.module().b.grad()[0].item(), 1.5);
  });
}

TEST(DataParallel, NamesParametersWithoutAGradient) {
  std::vector<std::string> errors(2);
  on_two<Branches>([&](Communicator& c, DataParallel<Branches>& model) {
    const auto rank = static_cast<std::size_t>(c.rank());
    errors[rank] = message_of<std::runtime_error>([&] { model(false, 1).backward(); });
    model.zero_grad();
    (model(true, factor_of(c)) + sum(model.module().c)).backward();
    EXPECT_EQ(model.module().b.grad()[0].item(), average_factor(c)) << "after the error";
  });
  EXPECT_EQ(errors[1],
            "DataParallel: expected a gradient for every parameter, got none for 'b', 'c' on rank "
            "1; set find_unused_parameters if the loss may leave some out");
}

TEST(DataParallel, CountsUnusedParametersAsZero) {
  for (const std::int64_t bytes : {1, 1 << 20}) {
    on_two<Branches>(
        [](Communicator& c, DataParallel<Branches>& model) {
          const Branches& module = model.module();
          for (int step = 0; step < 3; ++step) {
            model.zero_grad();
            model(c.rank() == 1, factor_of(c)).backward();
            EXPECT_EQ(module.a.grad()[1].item(), 1.5);
            ASSERT_TRUE(module.b.grad().defined()) << "rank " << c.rank();
            EXPECT_EQ(module.b.grad()[2].item(), 1);
            EXPECT_FALSE(module.c.grad().defined()) << "unused on all ranks";
          }
          model(c.rank() == 0, factor_of(c)).backward();
          EXPECT_EQ(module.b.grad()[2].item(), 1.5);
        },
        {.bucket_bytes = bytes, .find_unused_parameters = true});
  }
}

TEST(DataParallel, RefusesCreateGraphAndNestedPasses) {
  on_two<Scale>([](Communicator& c, DataParallel<Scale>& model) {
    const Tensor& w = model.module().w;
    EXPECT_NE(message_of<std::runtime_error>([&] {
                model(input_of(c)).backward({}, std::nullopt, true);
              }).find("expected backward() without create_graph"),
              std::string::npos);
    model.zero_grad();
    const Tensor x = full({1}, 1.0, {.requires_grad = true});
    x.register_hook([&](const Tensor&) {
      const EnableGradGuard recording;
      model(input_of(c)).backward();
    });
    EXPECT_NE(message_of<std::runtime_error>([&] {
                sum(x * 2).backward();
              }).find("got one from a pass inside it"),
              std::string::npos);
    model.zero_grad();
    model(input_of(c)).backward();
    EXPECT_EQ(w.grad()[0].item(), average_factor(c));
    {
      const NoSync guard = model.no_sync();
      model.zero_grad();
      model(input_of(c)).backward({}, std::nullopt, true);
      EXPECT_EQ(w.grad()[0].item(), factor_of(c));
      model.zero_grad();
    }
  });
}

TEST(DataParallel, AveragesEveryPassOverOneGraphButNotGrad) {
  on_two<Scale>([](Communicator& c, DataParallel<Scale>& model) {
    const Tensor& w = model.module().w;
    const Tensor loss = model(input_of(c));
    EXPECT_EQ(autograd::grad({loss}, {w}, {}, {.retain_graph = true})[0][0].item(), factor_of(c));
    EXPECT_FALSE(w.grad().defined());
    loss.backward({}, true);
    EXPECT_EQ(w.grad()[0].item(), average_factor(c));
    loss.backward();
    EXPECT_EQ(w.grad()[0].item(), 2 * average_factor(c));
    model.zero_grad();
    model(input_of(c)).backward({}, std::nullopt, false, {w});
    EXPECT_EQ(w.grad()[0].item(), average_factor(c));
  });
}

// Two uses of one weight, one of them in a checkpointed segment.
struct Shared : nn::Callable<Shared> {
  nn::Linear first = register_module("first", nn::Linear(4, 4));
  nn::Linear second = register_module("second", nn::Linear(4, 4));
  Shared() { second.weight = second.replace_parameter("weight", first.weight); }
  Tensor forward(const Tensor& x) const {
    const auto block = [first = first](const Tensor& input) { return tanh(first(input)); };
    return sum(second(utils::checkpoint(block, x)));
  }
};

TEST(DataParallel, AveragesSharedParametersInCheckpointsOnce) {
  std::vector<std::vector<double>> own;
  manual_seed(0);
  Shared module;
  for (int r = 0; r < 2; ++r) {
    module.zero_grad();
    module(full({2, 4}, r + 0.5)).backward();
    own.push_back(values_of(gradients_of(module)));
  }
  const auto got = on_models(
      2, [] { return Shared(); },
      [](Communicator& c, const Shared& shared_net) {
        const DataParallel model(shared_net, shared(c), {.bucket_bytes = 1});
        model(full({2, 4}, c.rank() + 0.5)).backward();
        return values_of(gradients_of(model));
      });
  EXPECT_EQ(got[0], got[1]);
  for (std::size_t i = 0; i < own[0].size(); ++i) {
    EXPECT_FLOAT_EQ(static_cast<float>(got[0][i]), static_cast<float>((own[0][i] + own[1][i]) / 2));
  }
}

}  // namespace
}  // namespace halfgrad::dist
