#include <halfgrad/compat/serialize.h>

#include <halfgrad/io/checkpoint.h>

namespace halfgrad::serialize {
namespace {

constexpr const char* kOptimizer = "optimizer";

void save_optimizer(OutputArchive& archive, const optim::Optimizer& optimizer) {
  io::Checkpoint checkpoint;
  checkpoint.write(kOptimizer, optimizer);
  for (const auto& [name, tensor] : checkpoint.part(kOptimizer)) archive.write(name, tensor);
}

void load_optimizer(InputArchive& archive, optim::Optimizer& optimizer) {
  io::Checkpoint checkpoint;
  checkpoint.write_text(kOptimizer, optimizer.name());
  for (const std::string& name : archive.tensor_names()) {
    Tensor tensor;
    archive.read(name, tensor);
    checkpoint.write(std::string(kOptimizer) + "/" + name, tensor);
  }
  checkpoint.read(kOptimizer, optimizer);
}

}  // namespace

OutputArchive::OutputArchive() {
  halfgrad::detail::set_optimizer_archiving({&save_optimizer, &load_optimizer});
}
InputArchive::InputArchive() {
  halfgrad::detail::set_optimizer_archiving({&save_optimizer, &load_optimizer});
}

void write(OutputArchive& archive, const Tensor& tensor) { archive.write("0", tensor); }

void write(OutputArchive& archive, const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) archive.write(std::to_string(i), tensors[i]);
}

void write(OutputArchive& archive, const nn::Module& module) {
  for (const auto& [name, tensor] : module.state_dict()) archive.write(name, tensor);
}

void write(OutputArchive& archive, const optim::Optimizer& optimizer) { optimizer.save(archive); }

void read(InputArchive& archive, Tensor& tensor) { archive.read("0", tensor); }

void read(InputArchive& archive, std::vector<Tensor>& tensors) {
  Tensor tensor;
  while (archive.try_read(std::to_string(tensors.size()), tensor)) {
    tensors.push_back(std::exchange(tensor, Tensor()));
  }
}

void read(InputArchive& archive, nn::Module& module) {
  for (auto& [name, tensor] : module.state_dict()) {
    Tensor target = tensor;
    archive.read(name, target);
  }
}

void read(InputArchive& archive, optim::Optimizer& optimizer) { optimizer.load(archive); }

}  // namespace halfgrad::serialize
