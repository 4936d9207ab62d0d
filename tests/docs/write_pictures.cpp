// Writes the pictures of docs/mixed-precision.md into the tree: the target `docs_pictures`.
#include <cstdio>
#include <fstream>

#include "pictures.h"

int main() {
  for (const auto& [path, svg] : halfgrad::tests::pictures()) {
    std::ofstream(std::string(HALFGRAD_SOURCE_DIR "/") + path) << svg;
    std::printf("wrote %s\n", path.c_str());
  }
}
