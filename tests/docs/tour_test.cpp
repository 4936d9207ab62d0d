// docs/tour.md: its code excerpts are in the sources, and its reading list covers README's step.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/halfgrad.h>

#include "page.h"

namespace halfgrad::tests {
namespace {

struct ListedFile {
  std::string path;
  int lines;
};

// The rows "| 3 | [path](link) | 200 | sentence. |".
std::vector<ListedFile> reading_list() {
  std::istringstream lines(text_of("docs/tour.md"));
  std::vector<ListedFile> files;
  for (std::string line; std::getline(lines, line);) {
    const std::string start = "| " + std::to_string(files.size() + 1) + " | [";
    if (!line.starts_with(start)) continue;
    const auto end = line.find(']');
    const auto number = line.find(") | ", end) + 4;
    files.push_back(
        {line.substr(start.size(), end - start.size()), std::stoi(line.substr(number))});
  }
  return files;
}

int count_lines(const std::string& path) {
  const std::string text = text_of(path);
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

// A header that only includes others stands for them.
bool is_umbrella(const std::string& path) {
  std::istringstream lines(text_of(path));
  for (std::string line; std::getline(lines, line);) {
    const bool is_comment = line.starts_with("//");
    if (!line.empty() && !is_comment && !line.starts_with("#")) return false;
  }
  return true;
}

// Project headers that `path` includes, and those of its source file if it is a header.
void add_includes(const std::string& path, std::set<std::string>& includes) {
  constexpr std::string_view kInclude = "#include <halfgrad/";
  std::istringstream lines(text_of(path));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kInclude)) continue;
    const std::string header = line.substr(kInclude.size(), line.find('>') - kInclude.size());
    if (!includes.insert(header).second || !file_exists(header)) continue;
    if (is_umbrella(header)) add_includes(header, includes);
  }
  const std::string source = std::filesystem::path(path).replace_extension(".cpp").string();
  if (path.ends_with(".h") && file_exists(source)) add_includes(source, includes);
}

// The ops that the forward pass of README's step runs.
class RanOps : public OpObserver {
 public:
  void ran(const OpCall& call) override { names.insert(call.op); }

  std::set<std::string> names;
};

std::set<std::string> ops_of_a_step() {
  auto model = nn::Sequential(nn::Linear(784, 512), nn::ReLU(), nn::Linear(512, 10));
  amp::GradScaler scaler;
  const Tensor x = halfgrad::zeros({4, 784});
  const Tensor y = halfgrad::zeros({4}, kLong);
  RanOps observer;
  const OpObserverGuard guard(observer);
  Tensor loss;
  {
    const amp::Autocast autocast(kCPU);
    loss = nn::functional::cross_entropy(model(x), y);
  }
  static_cast<void>(scaler.scale(loss));
  return observer.names;
}

// A file of autograd/ops/ that names the op: `name = "relu"`.
bool is_page_of(const std::string& path, const std::string& op) {
  return path.find("/ops/") != std::string::npos &&
         text_of(path).find("name = \"" + op + "\"") != std::string::npos;
}

TEST(Tour, TheReadingListHasAtMost25Files) {
  const std::vector<ListedFile> files = reading_list();
  EXPECT_GE(files.size(), 10U) << "the table of docs/tour.md has another form";
  EXPECT_LE(files.size(), 25U);
  std::set<std::string> paths;
  for (const auto& [path, lines] : files) {
    EXPECT_TRUE(paths.insert(path).second) << path << " is listed twice";
    EXPECT_TRUE(file_exists(path)) << path;
    EXPECT_LE(count_lines(path), lines) << path;
  }
}

// A file is included by one that was read before it, has the name of such a header, or is the page
// of an op that the step runs.
TEST(Tour, EveryFileOfTheReadingListIsReachedFromAnEarlierOne) {
  const std::vector<ListedFile> files = reading_list();
  const std::set<std::string> ops = ops_of_a_step();
  std::set<std::string> reached = {files.front().path};
  for (const auto& [path, lines] : files) {
    const std::string header = std::filesystem::path(path).replace_extension(".h").string();
    const bool is_page = std::any_of(ops.begin(), ops.end(), [&, &listed = path](const auto& op) {
      return is_page_of(listed, op);
    });
    EXPECT_TRUE(reached.contains(path) || reached.contains(header) || is_page)
        << path << ": expected a file that an earlier one of the list includes";
    add_includes(path, reached);
  }
}

TEST(Tour, TheReadingListHasThePageOfEveryOpOfTheStep) {
  const std::vector<ListedFile> files = reading_list();
  const std::set<std::string> ops = ops_of_a_step();
  EXPECT_GE(ops.size(), 4U);
  for (const std::string& op : ops) {
    EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                            [&](const ListedFile& file) { return is_page_of(file.path, op); }))
        << "the step runs '" << op << "', whose page is not in the list";
  }
}

// README's loop calls these; their declarations or bodies are in the list.
TEST(Tour, TheReadingListHasTheFunctionsThatTheLoopCalls) {
  std::string list;
  for (const auto& [path, lines] : reading_list()) list += text_of(path);
  for (const char* const name :
       {"class Autocast", "GradScaler::scale(", "GradScaler::unscale_(", "GradScaler::step(",
        "GradScaler::update(", "clip_grad_norm_(", "void backward(", "void Adam::update("}) {
    EXPECT_NE(list.find(name), std::string::npos) << name;
  }
}

TEST(Tour, ItsFiveExcerptsAreInTheSources) {
  Page page("docs/tour.md");
  page.expect_code("docs/tour.md");
  std::size_t excerpts = 0;
  const std::string& text = page.text();
  for (auto at = text.find("```cpp"); at != std::string::npos; at = text.find("```cpp", at + 1)) {
    ++excerpts;
    EXPECT_EQ(text.substr(at - 4, 4), "):\n\n") << "an excerpt names no file";
  }
  EXPECT_EQ(excerpts, 5U);
}

}  // namespace
}  // namespace halfgrad::tests
