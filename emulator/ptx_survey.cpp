// ptx-survey FILE...: decodes every kernel of PTX texts, or of programs and libraries that embed
// PTX, and lists the instructions that the emulator does not know.
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <halfgrad/emulator/ptx/fat_binary.h>
#include <halfgrad/emulator/ptx/module.h>

namespace {

using namespace halfgrad::emulator;

struct Unknown {
  std::string reason, example;
  std::size_t count = 0;
};

struct Survey {
  std::map<std::string, Unknown> unknown;  ///< by opcode with its modifiers
  std::set<std::string> builtins;
  std::size_t texts = 0, bytes = 0, kernels = 0, instructions = 0, failures = 0;
  double index_seconds = 0, decode_seconds = 0;
};

/// Seconds of processor time that this process has used.
double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// Gives every variable some address; nothing is run.
struct AnyPlace : Module::Placement {
  std::uint64_t next = 1 << 20;
  std::uint64_t allocate(const Variable& variable) override {
    next = (next + 4095) / 4096 * 4096 + variable.bytes;
    return next - variable.bytes;
  }
  void write(std::uint64_t, std::span<const std::byte>) override {}
};

std::string form_of(const Statement& statement) {
  std::string form(statement.opcode);
  for (const std::string_view modifier : statement.modifiers) form += "." + std::string(modifier);
  return form;
}

void add(Survey& survey, const Function& function) {
  survey.instructions += function.code.size();
  for (const auto& [index, reason] : function.unknown) {
    Unknown& unknown = survey.unknown[form_of(function.statements[index])];
    if (++unknown.count == 1) {
      unknown.reason = reason;
      unknown.example = std::string(function.statements[index].text);
    }
  }
  for (const Call& call : function.calls) {
    if (call.callee == nullptr && !call.name.empty()) survey.builtins.insert(call.name);
  }
}

void add(Survey& survey, std::string text) {
  ++survey.texts;
  survey.bytes += text.size();
  const double begin = processor_seconds();
  Module module(std::move(text));
  survey.index_seconds += processor_seconds() - begin;
  AnyPlace place;
  module.place(place);
  for (const std::string& name : module.kernel_names()) {
    ++survey.kernels;
    const double begin_decoding = processor_seconds();
    try {
      const Kernel* kernel = module.kernel(name);
      survey.decode_seconds += processor_seconds() - begin_decoding;
      for (const Function* function : kernel->functions) add(survey, *function);
    } catch (const std::exception& error) {
      ++survey.failures;
      std::cerr << name << ": " << error.what() << '\n';
    }
  }
}

void add_file(Survey& survey, const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open()) throw std::runtime_error("cannot read the file");
  bool found = false;
  for (const FatBinaryEntry& entry : entries_in_file(content)) {
    if (entry.kind != FatBinaryEntry::Kind::ptx) continue;
    found = true;
    add(survey, ptx(entry));
  }
  if (!found) add(survey, content);
}

void print(const Survey& survey) {
  std::printf(
      "%zu texts, %.1f MB, indexed at %.0f MB/s; %zu kernels, %zu instructions, decoded at "
      "%.2f million/s\n",
      survey.texts, double(survey.bytes) / 1e6, double(survey.bytes) / 1e6 / survey.index_seconds,
      survey.kernels, survey.instructions,
      double(survey.instructions) / 1e6 / survey.decode_seconds);
  for (const std::string& name : survey.builtins) std::printf("calls %s\n", name.c_str());
  for (const auto& [form, unknown] : survey.unknown) {
    std::printf("%8zu  %s\n          %s\n          %s\n", unknown.count, form.c_str(),
                unknown.reason.c_str(), unknown.example.c_str());
  }
  std::printf("%zu unknown forms, %zu kernels that do not decode\n", survey.unknown.size(),
              survey.failures);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "ptx-survey: expected FILE..., PTX texts or programs that embed PTX, got none\n";
    return 2;
  }
  Survey survey;
  for (int i = 1; i < count; ++i) {
    try {
      add_file(survey, arguments[i]);
    } catch (const std::exception& error) {
      std::cerr << arguments[i] << ": " << error.what() << '\n';
      ++survey.failures;
    }
  }
  print(survey);
  return survey.unknown.empty() && survey.failures == 0 ? 0 : 1;
}
