#include <halfgrad/io/checkpoint.h>

#include <gtest/gtest.h>

#include <halfgrad/halfgrad.h>

#include "../folder.h"

namespace halfgrad::io {
namespace {

using namespace tests;

struct Training {
  explicit Training(std::uint64_t seed) {
    generator.manual_seed(seed);
    manual_seed(seed);
    model = nn::Sequential(nn::Linear(3, 4), nn::BatchNorm1d(4), nn::Linear(4, 2));
    optimizer = std::make_unique<optim::Adam>(
        std::vector<optim::ParamGroup>{{.params = {model.parameters().at(0)}, .lr = 0.1},
                                       {.params = {model.parameters().at(2)}}},
        optim::AdamArguments{.amsgrad = true});
    warmup = std::make_shared<optim::LinearLR>(*optimizer);
    decay = std::make_shared<optim::ExponentialLR>(*optimizer,
                                                   optim::ExponentialLROptions{.gamma = 0.9});
    scheduler = std::make_unique<optim::SequentialLR>(
        *optimizer, std::vector<std::shared_ptr<optim::LRScheduler>>{warmup, decay},
        optim::SequentialLROptions{.milestones = {2}});
  }

  void step() {
    optimizer->zero_grad();
    const Tensor loss = square(model(rand({5, 3}))).mean();
    scaler.scale(loss).backward();
    scaler.step(*optimizer);
    scaler.update();
    scheduler->step();
    generator.take(3);
  }

  Checkpoint checkpoint() const {
    Checkpoint all;
    all.write("model", model);
    all.write("optimizer", *optimizer);
    all.write("scheduler", *scheduler);
    all.write("scaler", scaler);
    all.write("random", generator);
    return all;
  }
  void restore(const Checkpoint& all) {
    all.read("model", model);
    all.read("optimizer", *optimizer);
    all.read("scheduler", *scheduler);
    all.read("scaler", scaler);
    all.read("random", generator);
  }

  nn::Sequential model;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::shared_ptr<optim::LRScheduler> warmup, decay;
  std::unique_ptr<optim::LRScheduler> scheduler;
  amp::GradScaler scaler{{.init_scale = 1024, .growth_interval = 2}};
  Generator generator;
};

Bytes saved(const Folder& folder, const Checkpoint& checkpoint) {
  save_checkpoint(folder / "file", checkpoint);
  return contents(folder / "file");
}

TEST(Checkpoint, RestoresEveryPart) {
  const Folder folder;
  Training first(1);
  for (int i = 0; i < 5; ++i) first.step();
  const Bytes file = saved(folder, first.checkpoint());

  Training second(2);
  EXPECT_NE(saved(folder, second.checkpoint()), file);
  save_checkpoint(folder / "file", first.checkpoint());
  second.restore(load_checkpoint(folder / "file"));
  EXPECT_EQ(saved(folder, second.checkpoint()), file);
  EXPECT_EQ(second.scaler.counts().steps, 5);
  EXPECT_EQ(second.scaler.counts().growths, 2);
  EXPECT_EQ(second.optimizer->steps(), 5);
  EXPECT_EQ(second.optimizer->skipped_steps().item(), 0);
  EXPECT_EQ(second.scheduler->last_epoch(), 5);
  EXPECT_TRUE(second.model.parameters().at(0).grad().defined());

  manual_seed(3);
  first.step();
  manual_seed(3);
  second.step();
  EXPECT_EQ(saved(folder, second.checkpoint()), saved(folder, first.checkpoint()));
}

TEST(Checkpoint, RemovesGradientsThatTheCheckpointLacks) {
  Training first(1), second(1);
  second.step();
  second.restore(first.checkpoint());
  EXPECT_FALSE(second.model.parameters().at(0).grad().defined());
}

TEST(Checkpoint, WritingReplacesAWholePart) {
  Checkpoint all;
  nn::Linear model(2, 2), other(2, 2);
  model.weight.set_grad(ones({2, 2}));
  all.write("model", model);
  model.zero_grad();
  all.write("model", model);
  all.read("model", other);
  EXPECT_FALSE(other.weight.grad().defined());

  optim::Adam two_groups({{.params = {model.weight}}, {.params = {model.bias}}});
  model.weight.set_grad(ones({2, 2}));
  two_groups.step();
  optim::Adam one_group(other.parameters()), loaded(other.parameters());
  all.write("optimizer", two_groups);
  all.write("optimizer", one_group);
  all.read("optimizer", loaded);
  EXPECT_TRUE(loaded.state_dict().state.empty());

  optim::StepLR alone(one_group, {.step_size = 1});
  Training training(1);
  all.write("scheduler", *training.scheduler);
  all.write("scheduler", alone);
  EXPECT_FALSE(all.tensors.contains("scheduler/0/last_epoch"));

  amp::GradScaler scaler, disabled({.enabled = false});
  all.write("scaler", scaler);
  all.write("scaler", disabled);
  EXPECT_TRUE(all.part("scaler").empty());
}

TEST(Checkpoint, AScalerMayHaveAnotherHistory) {
  Tensor weight = ones({2}).requires_grad_();
  optim::SGD optimizer({weight});
  amp::GradScaler scaler({.init_scale = 8, .history = 3});
  scaler.scale(weight.sum()).backward();
  scaler.step(optimizer);
  scaler.update(32);
  Checkpoint all;
  all.write("scaler", scaler);
  for (const std::int64_t history : {0, 1, 3, 9}) {
    amp::GradScaler other({.init_scale = 8, .history = history});
    all.read("scaler", other);
    EXPECT_EQ(other.get_scale(), 32) << history;
    EXPECT_EQ(other.counts().steps, 1) << history;
    EXPECT_EQ(other.reports().size(), history > 0 ? 1U : 0U) << history;
  }
  all.write("scaler/log", ones({2, 3}));
  EXPECT_THROW(all.read("scaler", scaler), std::invalid_argument);
  amp::GradScaler fresh({.init_scale = 8, .history = 3});
  EXPECT_THROW(all.read("scaler", fresh), std::invalid_argument);
  EXPECT_EQ(fresh.get_scale(), 8) << "nothing has changed";
  EXPECT_EQ(fresh.counts().steps, 0);
  EXPECT_EQ(scaler.reports().size(), 1U);
}

TEST(Checkpoint, WritingAPartKeepsPartsOfSimilarNames) {
  Checkpoint all;
  const Generator generator;
  const std::vector<std::string> similar{"random", "random!", "random0", "randoms/seed", "rando/x"};
  for (const std::string& name : similar) all.write(name, 1.0);
  all.write("random", generator);
  all.write("random", generator);
  for (const std::string& name : similar) EXPECT_EQ(all.number(name), 1) << name;
  all.write("random", 2.0);
  EXPECT_EQ(all.part("random").size(), 2u);
}

TEST(Checkpoint, IsACopy) {
  Training training(1);
  const Checkpoint before = training.checkpoint();
  const double weight = before.tensor("model/0.weight").sum().item();
  for (int i = 0; i < 3; ++i) training.step();
  EXPECT_EQ(before.tensor("model/0.weight").sum().item(), weight);
  EXPECT_NE(training.model.parameters().at(0).sum().item(), weight);
}

TEST(Checkpoint, KeepsNumbersAndText) {
  const Folder folder;
  Checkpoint checkpoint;
  checkpoint.write("step", std::int64_t{1} << 60 | 1);
  checkpoint.write("lr", 0.1);
  checkpoint.write_text("precision", "fp16");
  save_checkpoint(folder / "file", checkpoint);
  const Checkpoint loaded = load_checkpoint(folder / "file");
  EXPECT_EQ(loaded.integer("step"), std::int64_t{1} << 60 | 1);
  EXPECT_EQ(loaded.number("lr"), 0.1);
  EXPECT_NO_THROW(loaded.require_text("precision", "fp16"));
  EXPECT_THROW(loaded.require_text("precision", "fp32"), std::invalid_argument);
  EXPECT_THROW(loaded.text("none"), std::invalid_argument);
  EXPECT_THROW(loaded.integer("lr"), std::invalid_argument);
  EXPECT_THROW(loaded.number("step"), std::invalid_argument);
  EXPECT_THROW(loaded.tensor("none"), std::invalid_argument);
}

TEST(Checkpoint, KeepsIntegersOfAnyType) {
  Checkpoint checkpoint;
  const int step = -7;
  checkpoint.write("int", step);
  checkpoint.write("size", std::size_t{1} << 62);
  checkpoint.write("small", std::uint8_t{200});
  EXPECT_EQ(checkpoint.integer("int"), -7);
  EXPECT_EQ(checkpoint.integer("size"), std::int64_t{1} << 62);
  EXPECT_EQ(checkpoint.integer("small"), 200);
  EXPECT_THROW(checkpoint.write("large", std::uint64_t{1} << 63), std::invalid_argument);
}

TEST(Checkpoint, RefusesIncompleteOrWrongParts) {
  Training training(1);
  training.step();
  const Checkpoint good = training.checkpoint();
  const auto expect_refused = [&](const std::string& what, const auto& change) {
    SCOPED_TRACE(what);
    Checkpoint bad = good;
    change(bad);
    EXPECT_THROW(Training(1).restore(bad), std::invalid_argument);
  };
  EXPECT_NO_THROW(Training(1).restore(good));
  expect_refused("parameter missing", [](Checkpoint& c) { c.tensors.erase("model/0.weight"); });
  expect_refused("parameter unknown", [](Checkpoint& c) { c.write("model/9.weight", 1.0); });
  expect_refused("parameter of another type", [](Checkpoint& c) {
    c.write("model/0.weight", c.tensor("model/0.weight").to(kDouble));
  });
  expect_refused("gradient of another shape",
                 [](Checkpoint& c) { c.write("model/0.weight.grad", 1.0); });
  expect_refused("moment of another shape",
                 [](Checkpoint& c) { c.write("optimizer/0.exp_avg", ones({1})); });
  expect_refused("another optimizer", [](Checkpoint& c) { c.write_text("optimizer", "SGD"); });
  expect_refused("no count of steps", [](Checkpoint& c) { c.tensors.erase("optimizer/steps"); });
  expect_refused("fractions of skipped steps",
                 [](Checkpoint& c) { c.write("optimizer/skipped_steps", 0.5); });
  expect_refused("third group", [](Checkpoint& c) { c.write("optimizer/group2.lr", 1.0); });
  expect_refused("state of an unknown parameter",
                 [](Checkpoint& c) { c.write("optimizer/x.step", 1.0); });
  expect_refused("no schedule", [](Checkpoint& c) { c.tensors.erase("scheduler/last_epoch"); });
  expect_refused("counters of another shape",
                 [](Checkpoint& c) { c.write("scaler/counters", ones({4})); });
  expect_refused("an unexpected log", [](Checkpoint& c) { c.write("scaler/log", ones({4})); });
  expect_refused("no scale", [](Checkpoint& c) { c.tensors.erase("scaler/scale"); });
  expect_refused("no scaler", [](Checkpoint& c) {
    std::erase_if(c.tensors, [](const auto& item) { return item.first.starts_with("scaler/"); });
  });
  expect_refused("fractions of parameters", [](Checkpoint& c) {
    c.write("optimizer/group0.params", c.tensor("optimizer/group0.params").to(kDouble));
  });
  expect_refused("rates of another type", [](Checkpoint& c) {
    c.write("scheduler/base_lrs", c.tensor("scheduler/base_lrs").to(kFloat));
  });
  expect_refused("no seed", [](Checkpoint& c) { c.tensors.erase("random/seed"); });
}

TEST(Checkpoint, RefusesOtherFiles) {
  const Folder folder;
  const auto code = [&] {
    try {
      load_checkpoint(folder / "file");
    } catch (const FormatError& error) {
      return error.code();
    }
    throw std::logic_error("it was read");
  };
  save_safetensors(folder / "file", {});
  EXPECT_EQ(code(), FormatCode::unsupported_version);
  save_safetensors(folder / "file", {}, {{"halfgrad.checkpoint", "2"}});
  EXPECT_EQ(code(), FormatCode::unsupported_version);
}

}  // namespace
}  // namespace halfgrad::io
