#include <nanobind/stl/filesystem.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/data/data_loader.h>
#include <halfgrad/data/mnist.h>
#include <halfgrad/data/synthetic.h>
#include <halfgrad/python/bindings/bindings.h>
#include <halfgrad/python/bindings/dropped_first.h>

/// Data sets and loaders.
namespace halfgrad::python {
namespace {

using data::Batch;
using data::DataLoader;
using data::TensorDataset;

/// A data set that is written in Python. A loader calls it from its own thread.
class PythonDataset {
 public:
  explicit PythonDataset(nb::object dataset) : dataset_(std::move(dataset)) {}

  std::int64_t size() const {
    const PythonLock lock;
    return static_cast<std::int64_t>(nb::len(dataset_.get()));
  }
  Batch get_batch(std::span<const std::int64_t> indices) const {
    const PythonLock lock;
    nb::list list;
    for (const std::int64_t index : indices) list.append(index);
    return read<Batch>(dataset_.get().attr("get_batch")(list), "DataLoader",
                       "the result of get_batch");
  }

 private:
  PythonObject dataset_;
};

/// One epoch: the iterator that Python's `for` calls. Its end waits for the loader's thread, which
/// may need Python's lock, so it gives the lock away.
class Epoch {
 public:
  explicit Epoch(DataLoader::Iterator at) : state_(std::make_shared<State>(std::move(at))) {
    DroppedAtExit::add(state_);
  }
  Epoch(Epoch&&) = default;
  Epoch(const Epoch&) = delete;
  ~Epoch() {
    if (state_ != nullptr) state_->drop();
  }

  std::optional<Batch> next() {
    std::optional<DataLoader::Iterator>& at = state_->at;
    if (!at) return std::nullopt;
    if (!state_->is_first) ++*at;
    state_->is_first = false;
    if (*at == std::default_sentinel) return std::nullopt;
    return **at;
  }

 private:
  struct State final : DroppedFirst {
    explicit State(DataLoader::Iterator begin) : at(std::move(begin)) {}
    void drop() override {
      const nb::gil_scoped_release release;
      at.reset();
    }
    std::optional<DataLoader::Iterator> at;
    bool is_first = true;
  };
  std::shared_ptr<State> state_;
};

nb::tuple tensors_of(const data::DigitImages& digits) {
  const auto count = static_cast<std::int64_t>(digits.labels.size());
  constexpr std::int64_t kSide = data::DigitImages::kSide;
  return nb::make_tuple(tensor(digits.pixels, {count, kSide, kSide}), tensor(digits.labels));
}

data::Split split_of(const std::string& name) {
  if (name == "train") return data::Split::train;
  if (name == "test") return data::Split::test;
  detail::fail("load_mnist", "expected split \"train\" or \"test\", got \"{}\"", name);
}

DataLoader loader_of(const nb::object& dataset, const data::DataLoaderArguments& options) {
  if (nb::isinstance<TensorDataset>(dataset)) {
    return DataLoader(nb::cast<const TensorDataset&>(dataset), options);
  }
  for (const char* method : {"__len__", "get_batch"}) {
    if (nb::hasattr(dataset, method)) continue;
    throw nb::type_error(("DataLoader: expected a data set with __len__ and get_batch, got one "
                          "without " +
                          std::string(method))
                             .c_str());
  }
  return DataLoader(PythonDataset(dataset), options);
}

void bind_loader(nb::module_& module) {
  nb::class_<Epoch>(module, "Epoch", "The batches of one epoch.")
      .def("__iter__", [](nb::handle_t<Epoch> self) { return nb::borrow(self); })
      .def("__next__", [](Epoch& self) {
        std::optional<Batch> batch;
        {
          const nb::gil_scoped_release release;
          batch = self.next();
        }
        if (!batch) throw nb::stop_iteration();
        return *batch;
      });
  nb::class_<DataLoader>(
      module, "DataLoader",
      "The batches (x, y) of a data set, epoch after epoch. A data set of your own\n"
      "has __len__() and get_batch(indices), which returns (x, y).")
      .def(
          "__init__",
          [](DataLoader* self, const nb::object& dataset, std::int64_t batch_size, bool shuffle,
             bool drop_last, std::uint64_t seed, int prefetch) {
            new (self)
                DataLoader(loader_of(dataset, {batch_size, shuffle, drop_last, seed, prefetch}));
          },
          "dataset"_a, "batch_size"_a = 1, "shuffle"_a = false, nb::kw_only(),
          "drop_last"_a = false, "seed"_a = 0, "prefetch"_a = 2)
      .def("__len__", &DataLoader::size)
      .def("__iter__",
           [](DataLoader& self) {
             std::optional<DataLoader::Iterator> first;
             {
               const nb::gil_scoped_release release;
               first = self.begin();
             }
             return Epoch(*std::move(first));
           })
      .def("order", &DataLoader::order, "epoch"_a, "The indices of the samples in that epoch.")
      .def("set_epoch", &DataLoader::set_epoch, "epoch"_a, "first_batch"_a = 0,
           "Sets the epoch, and its first batch, that the next loop starts.");
}

}  // namespace

void bind_data(nb::module_& module) {
  nb::module_ data = module.def_submodule("data", "Data sets and loaders.");
  nb::class_<TensorDataset>(data, "TensorDataset", "Samples in memory: x [n, ...] and y [n, ...].")
      .def(nb::init<Tensor, Tensor>(), "x"_a, "y"_a)
      .def("__len__", &TensorDataset::size)
      .def(
          "get_batch",
          [](const TensorDataset& self, const std::vector<std::int64_t>& indices) {
            return self.get_batch(indices);
          },
          "indices"_a, "Copies the rows into x [len(indices), ...] and y.");
  bind_loader(data);
  data.def(
      "synthetic_digits",
      [](std::int64_t count, std::uint64_t seed) {
        data::DigitImages digits;
        {
          const nb::gil_scoped_release release;
          digits = data::synthetic_digits(count, seed);
        }
        return tensors_of(digits);
      },
      "count"_a, "seed"_a = 0,
      "Images [count, 28, 28] of drawn digits, uint8, and their labels [count], int64.");
  data.def(
      "load_mnist",
      [](const std::filesystem::path& folder, const std::string& split) {
        return tensors_of(data::load_mnist(folder, split_of(split)));
      },
      "folder"_a, "split"_a = "train",
      "Reads MNIST's files: images [n, 28, 28], uint8, and labels [n], int64.");
}

}  // namespace halfgrad::python
