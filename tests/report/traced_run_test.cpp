#include <sys/resource.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/files/read_file.h>
#include <halfgrad/files/replace_file.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/report/trace/traced_run.h>
#include <halfgrad/tests/folder.h>
#include <nlohmann/json.hpp>

namespace halfgrad::report {
namespace {

using nlohmann::json;

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

std::string only_file_of(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator files(folder);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  return files::read_file<std::string>(std::filesystem::directory_iterator(folder)->path(), "test");
}

class TracedRuns : public testing::Test {
 protected:
  void train(TraceFiles* files, const std::string& name, std::int64_t steps,
             std::int64_t first_step = 0) {
    TracedRun run(files, name, amp::NamedModel(model_), optimizer_, "--lr 0.1", first_step);
    for (std::int64_t step = 0; step < steps; ++step) {
      optimizer_.zero_grad();
      const Tensor loss = model_(ones({2, 3})).sum();
      loss.backward();
      optimizer_.step();
      run.end_step({.loss = loss.item(),
                    .score = 0.5,
                    .scale = step < 2 ? 8 : 16,
                    .skipped = step > 0 ? 1 : 0,
                    .grad_norm = 2,
                    .lr = 0.1});
    }
  }

  tests::Folder folder_;
  nn::Linear model_{3, 1};
  optim::SGD optimizer_{model_.parameters(), {.lr = 0.1}};
};

TEST_F(TracedRuns, HaveAGroupInTheTraceAndAFolderInTensorBoard) {
  TraceFiles files(folder_ / "trace.json", folder_ / "runs");
  train(&files, "fp16", 3);
  train(&files, "bf16", 1);
  files.finish();
  const std::string text = files::read_file<std::string>(folder_ / "trace.json", "test");
  std::vector<std::string> groups, instants;
  std::size_t losses = 0;
  const json events = json::parse(text).at("traceEvents");
  for (const json& event : events) {
    if (event.at("ph") == "M" && event.at("name") == "process_name") {
      groups.push_back(event.at("args").at("name"));
    }
    if (event.at("ph") == "i") instants.push_back(event.at("name"));
    losses += event.at("ph") == "C" && event.at("name") == "loss";
  }
  EXPECT_EQ(groups, (std::vector<std::string>{"fp16", "bf16"}));
  EXPECT_EQ(instants, (std::vector<std::string>{"skip", "growth"}));
  EXPECT_EQ(losses, 4U);
  const std::string board = only_file_of(folder_ / "runs/fp16");
  for (const char* tag : {"loss", "accuracy", "scale", "skipped", "grad_norm"}) {
    EXPECT_EQ(count(board, tag), 3U) << tag;
  }
  EXPECT_EQ(count(board, "--lr 0.1"), 1U);
  EXPECT_EQ(count(only_file_of(folder_ / "runs/bf16"), "loss"), 1U);
}

TEST_F(TracedRuns, HaveHistogramsOfGradientsEvery100Steps) {
  TraceFiles files({}, folder_ / "runs");
  train(&files, "fp32", 102, 99);
  const std::string board = only_file_of(folder_ / "runs/fp32");
  EXPECT_EQ(count(board, "gradients/weight"), 2U);  // at steps 100 and 200
  EXPECT_EQ(count(board, "gradients/bias"), 2U);
}

TEST_F(TracedRuns, WithoutFilesDoNothing) {
  train(nullptr, "fp32", 2);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / std::string()));
}

TEST_F(TracedRuns, LeaveNoProbeBehind) {
  const TraceFiles files({}, folder_ / "runs");
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "runs"));
}

TEST_F(TracedRuns, AFullDiskDoesNotEndTheTraining) {
  TraceFiles files({}, folder_ / "runs");
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 600;  // bytes of a file
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_NO_THROW(train(&files, "fp32", 5));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, ignored);
  EXPECT_THROW(files.finish(), files::WriteError);
}

}  // namespace
}  // namespace halfgrad::report
