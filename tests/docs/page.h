#pragma once

#include <string>
#include <vector>

/// A page of docs/ under test: what it says is compared with what a test computed.
namespace halfgrad::tests {

/// Text of a file, named by its path from the root of the tree. Fails the test if there is none.
std::string text_of(const std::string& path);
bool file_exists(const std::string& path);

/// `text` with every run of spaces and line breaks as one space.
std::string one_line(const std::string& text);

/// "0.0002", "1.99e-9", "65536": at most `digits` digits, integers below 10 million in full.
std::string shown(double x, int digits = 4);
/// "2^-24" for a power of two.
std::string as_power(double x);
/// "12,000".
std::string grouped(long long x);

class Page {
 public:
  explicit Page(const std::string& path);

  const std::string& text() const { return text_; }

  /// The page has this text; line breaks count as spaces. Its figures count as checked.
  void expect(const std::string& text);
  /// Every block of C++ is code that exists. A paragraph before the block that ends in "From
  /// [`path`](link):" names its file; without one it is `program`, which a test runs. Lines of a
  /// block are in it in this order; `// ...` stands for lines left out. The figures of the blocks
  /// count as checked.
  void expect_code(const std::string& program);
  /// Figures that no expectation has covered, each with the words around it. Digits within a name,
  /// as in fp16, are no figure.
  std::vector<std::string> unchecked_numbers() const;

  /// Targets of the page's links to files of this tree, without fragments, as paths from the root.
  std::vector<std::string> linked_files() const;

 private:
  std::string path_;
  std::string text_;
  std::string unchecked_;  // on one line
};

}  // namespace halfgrad::tests
