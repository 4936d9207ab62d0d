// libFuzzer target: Module must index and decode, or refuse, any text; so must the reader of fat
// binaries. Built and run by tools/fuzz.

#include <string>

#include <halfgrad/emulator/ptx/fat_binary.h>
#include <halfgrad/emulator/ptx/module.h>

using namespace halfgrad::emulator;

namespace {

struct AnyPlace : Module::Placement {
  std::uint64_t allocate(const Variable&) override { return 4096; }
  void write(std::uint64_t, std::span<const std::byte>) override {}
};

void decode(std::string text) {
  try {
    Module module(std::move(text));
    for (const auto& [name, variable] : module.variables()) {
      if (variable.bytes > 1 << 20) return;  // a legal array, which would only fill memory
    }
    AnyPlace place;
    module.place(place);
    for (const std::string& name : module.kernel_names()) module.kernel(name);
  } catch (const std::logic_error&) {
    throw;
  } catch (const std::runtime_error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, size_t size) {
  const std::string content(reinterpret_cast<const char*>(bytes), size);
  decode(content);
  try {
    for (const FatBinaryEntry& entry : entries_in_file(content)) {
      if (entry.text_bytes < 1 << 20) ptx(entry);
    }
  } catch (const std::runtime_error&) {
  }
  return 0;
}
