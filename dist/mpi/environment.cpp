#include <halfgrad/dist/mpi/environment.h>

#include <string>

#include <mpi.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

std::shared_ptr<MpiEnvironment> MpiEnvironment::get() {
  // Destroyed after main(), since MPI cannot start twice.
  static const std::shared_ptr<MpiEnvironment> environment(new MpiEnvironment);
  if (environment->abandoned_) {
    throw CommunicationError("init_process_group: a rank of this program has failed before");
  }
  return environment;
}

MpiEnvironment::MpiEnvironment() {
  int is_initialized = 0, provided = 0;
  check_mpi(MPI_Initialized(&is_initialized), "MPI_Initialized");
  if (is_initialized) {
    check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
  } else {
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    is_ours_ = true;
  }
  // Each communicator has a thread that calls MPI.
  if (provided < MPI_THREAD_MULTIPLE) {
    halfgrad::detail::fail<std::runtime_error>(
        "init_process_group",
        "expected an MPI with MPI_THREAD_MULTIPLE ({}), got level {}; a program that starts MPI "
        "itself must ask MPI_Init_thread for it",
        MPI_THREAD_MULTIPLE, provided);
  }
}

MpiEnvironment::~MpiEnvironment() {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_ours_ && !abandoned_ && !is_finalized) MPI_Finalize();
}

void check_mpi(int status, const char* function) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw CommunicationError(std::string(function) + ": " + std::string(text, length));
}

}  // namespace halfgrad::dist
