#include <halfgrad/emulator/command/output_file.h>

#include <fstream>
#include <stdexcept>

namespace halfgrad::emulator {

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace halfgrad::emulator
