#include <halfgrad/dist/data_parallel.h>

#include <halfgrad/dist/parallel/gradient_reducer.h>

namespace halfgrad::dist {

NoSync::NoSync(std::shared_ptr<detail::GradientReducer> reducer)
    : reducer_(std::move(reducer)), outer_(reducer_->set_sync(false)) {}

NoSync::~NoSync() { reducer_->set_sync(outer_); }

namespace detail {

ParallelModule::ParallelModule(const nn::Module& module, std::shared_ptr<Communicator> communicator,
                               const DataParallelOptions& options)
    : Module(module),
      reducer_(std::make_shared<GradientReducer>(module, std::move(communicator), options)) {}

void ParallelModule::before_forward() const { reducer_->before_forward(); }

}  // namespace detail

}  // namespace halfgrad::dist
