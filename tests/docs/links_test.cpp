// Every page of docs/, README.md and CONTRIBUTING.md links files that exist.
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "page.h"

namespace halfgrad::tests {
namespace {

std::vector<std::string> pages() {
  std::vector<std::string> paths = {"README.md", "CONTRIBUTING.md"};
  for (const auto& entry : std::filesystem::directory_iterator(HALFGRAD_SOURCE_DIR "/docs")) {
    if (entry.path().extension() == ".md") {
      paths.push_back("docs/" + entry.path().filename().string());
    }
  }
  return paths;
}

TEST(Pages, LinkFilesThatExist) {
  std::size_t links = 0;
  for (const std::string& path : pages()) {
    for (const std::string& file : Page(path).linked_files()) {
      EXPECT_TRUE(file_exists(file)) << path << " links " << file;
      ++links;
    }
  }
  EXPECT_GT(links, 100U);
}

struct Term {
  std::string name;
  std::string line;
};

// The lines "* **term**: meaning. [file](link)".
std::vector<Term> glossary() {
  std::istringstream lines(text_of("docs/glossary.md"));
  std::vector<Term> terms;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("* **")) continue;
    terms.push_back({line.substr(4, line.find("**", 4) - 4), line});
  }
  return terms;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

TEST(Glossary, HasEachTermOnceInAlphabeticalOrder) {
  const std::vector<Term> terms = glossary();
  EXPECT_GE(terms.size(), 60U);
  for (std::size_t i = 1; i < terms.size(); ++i) {
    EXPECT_LT(lower_case(terms[i - 1].name), lower_case(terms[i].name));
  }
}

TEST(Glossary, LinksAFileForEveryTerm) {
  for (const auto& [name, line] : glossary()) {
    EXPECT_NE(line.find("](../"), std::string::npos) << name << " links no file of the tree";
    EXPECT_TRUE(line.ends_with(")")) << name << ": expected the line to end in its link";
  }
}

// A term in the spelling of the code, such as found_inf, is found in the file that it links.
TEST(Glossary, LinksTheFileThatHasTheIdentifier) {
  int identifiers = 0;
  for (const auto& [name, line] : glossary()) {
    if (name.find('_') == std::string::npos) continue;
    const auto begin = line.rfind("](../") + 5;
    const std::string path = line.substr(begin, line.rfind(')') - begin);
    EXPECT_NE(text_of(path).find(name), std::string::npos) << path << " does not have " << name;
    ++identifiers;
  }
  EXPECT_GE(identifiers, 4);
}

}  // namespace
}  // namespace halfgrad::tests
