// The C++ of docs/tracing.md, which must be the lines between the markers below.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <halfgrad/amp/inspector/op_timer.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/files/read_file.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/report/trace/tensorboard_writer.h>
#include <halfgrad/report/trace/trace_writer.h>
#include <halfgrad/tests/folder.h>

namespace halfgrad {
namespace {

std::string source(const char* file) {
  return files::read_file<std::string>(std::string(HALFGRAD_SOURCE_DIR "/") + file, "test");
}

/// The lines of this file between "// [name" and "// name]", without their indentation.
std::string lines_of(const std::string& name) {
  std::istringstream text(source("tests/report/tracing_page_test.cpp"));
  std::string lines;
  bool is_inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line == "  // " + name + "]") return lines;
    if (is_inside) lines += line.substr(std::min<std::size_t>(2, line.size())) + '\n';
    is_inside |= line == "  // [" + name;
  }
  return "no marker";
}

TEST(TracingPage, ShowsALoopThatRuns) {
  const tests::Folder folder;
  const nn::Linear model(4, 1);
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  const Tensor x = ones({8, 4}), y = zeros({8, 1});
  // clang-format off
  // [loop
  report::TraceWriter trace(folder / "trace.json", amp::NamedModel(model));
  report::TensorBoardWriter board(folder / "runs");
  const OpObserverGuard guard(trace);          // until the end of the scope
  const auto watch = trace.watch(optimizer);
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    const Tensor loss = mse_loss(model(x), y);
    loss.backward();
    optimizer.step();
    trace.counter("loss", loss.item());
    trace.end_step();
    board.add_scalar("loss", loss.item(), step);
  }
  trace.write();
  // loop]
  // clang-format on
  EXPECT_NE(source("docs/tracing.md").find("```cpp\n" + lines_of("loop") + "```"),
            std::string::npos)
      << lines_of("loop");
  EXPECT_GT(std::filesystem::file_size(folder / "trace.json"), 1000U);
}

TEST(TracingPage, ShowsATimerThatRuns) {
  const nn::Sequential model(nn::Linear(4, 2), nn::Linear(2, 1));
  const Tensor x = ones({8, 4}), y = zeros({8, 1});
  testing::internal::CaptureStdout();
  // clang-format off
  // [timer
  amp::OpTimer timer{amp::NamedModel(model)};
  {
    const OpObserverGuard guard(timer);
    mse_loss(model(x), y).backward();
  }
  std::cout << timer;
  // timer]
  // clang-format on
  EXPECT_NE(testing::internal::GetCapturedStdout().find("linear > mm"), std::string::npos);
  EXPECT_NE(source("docs/tracing.md").find("```cpp\n" + lines_of("timer") + "```"),
            std::string::npos)
      << lines_of("timer");
}

}  // namespace
}  // namespace halfgrad
