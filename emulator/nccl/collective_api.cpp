// Collectives, transfers and reductions that programs make.
#include <cmath>
#include <limits>

#include <halfgrad/emulator/nccl/communicator.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

/// Gives a call that has a reduction. `op` may be one of ncclRedOpCreatePreMulSum.
ncclResult_t give_reduction(ncclComm_t communicator, cudaStream_t stream, ncclRedOp_t op,
                            RankCall call) {
  if (!is_communicator(communicator, call.function)) return ncclInvalidArgument;
  call.reduction.op = op;
  if (op >= ncclNumOps) {
    const auto index = static_cast<std::size_t>(op - ncclNumOps);
    if (index >= communicator->factors.size() || std::isnan(communicator->factors[index])) {
      return refuse_nccl(call.function, ncclInvalidArgument, "the reduction does not exist");
    }
    call.reduction = {ncclNumOps, communicator->factors[index]};
  }
  return give_call(communicator, stream, call);
}

}  // namespace

HALFGRAD_EMULATOR_API ncclResult_t ncclAllReduce(const void* input, void* output, size_t count,
                                                 ncclDataType_t type, ncclRedOp_t op,
                                                 ncclComm_t communicator, cudaStream_t stream) {
  return give_reduction(communicator, stream, op,
                        {CallKind::all_reduce, "ncclAllReduce", input, output, count, type, {}, 0});
}
HALFGRAD_EMULATOR_API ncclResult_t ncclReduce(const void* input, void* output, size_t count,
                                              ncclDataType_t type, ncclRedOp_t op, int root,
                                              ncclComm_t communicator, cudaStream_t stream) {
  return give_reduction(
      communicator, stream, op,
      {CallKind::reduce, "ncclReduce", input, output, count, type, Reduction{}, root});
}
HALFGRAD_EMULATOR_API ncclResult_t ncclReduceScatter(const void* input, void* output, size_t count,
                                                     ncclDataType_t type, ncclRedOp_t op,
                                                     ncclComm_t communicator, cudaStream_t stream) {
  return give_reduction(
      communicator, stream, op,
      {CallKind::reduce_scatter, "ncclReduceScatter", input, output, count, type, {}, 0});
}
HALFGRAD_EMULATOR_API ncclResult_t ncclBroadcast(const void* input, void* output, size_t count,
                                                 ncclDataType_t type, int root,
                                                 ncclComm_t communicator, cudaStream_t stream) {
  return give_call(
      communicator, stream,
      {CallKind::broadcast, "ncclBroadcast", input, output, count, type, Reduction{}, root});
}
HALFGRAD_EMULATOR_API ncclResult_t ncclBcast(void* data, size_t count, ncclDataType_t type,
                                             int root, ncclComm_t communicator,
                                             cudaStream_t stream) {
  return ncclBroadcast(data, data, count, type, root, communicator, stream);
}
HALFGRAD_EMULATOR_API ncclResult_t ncclAllGather(const void* input, void* output, size_t count,
                                                 ncclDataType_t type, ncclComm_t communicator,
                                                 cudaStream_t stream) {
  return give_call(communicator, stream,
                   {CallKind::all_gather, "ncclAllGather", input, output, count, type, {}, 0});
}
HALFGRAD_EMULATOR_API ncclResult_t ncclAlltoAll(const void* input, void* output, size_t count,
                                                ncclDataType_t type, ncclComm_t communicator,
                                                cudaStream_t stream) {
  return give_call(communicator, stream,
                   {CallKind::all_to_all, "ncclAlltoAll", input, output, count, type, {}, 0});
}
HALFGRAD_EMULATOR_API ncclResult_t ncclGather(const void* input, void* output, size_t count,
                                              ncclDataType_t type, int root,
                                              ncclComm_t communicator, cudaStream_t stream) {
  return give_call(communicator, stream,
                   {CallKind::gather, "ncclGather", input, output, count, type, Reduction{}, root});
}
HALFGRAD_EMULATOR_API ncclResult_t ncclScatter(const void* input, void* output, size_t count,
                                               ncclDataType_t type, int root,
                                               ncclComm_t communicator, cudaStream_t stream) {
  return give_call(
      communicator, stream,
      {CallKind::scatter, "ncclScatter", input, output, count, type, Reduction{}, root});
}
HALFGRAD_EMULATOR_API ncclResult_t ncclSend(const void* input, size_t count, ncclDataType_t type,
                                            int peer, ncclComm_t communicator,
                                            cudaStream_t stream) {
  return give_call(communicator, stream,
                   {CallKind::send, "ncclSend", input, nullptr, count, type, Reduction{}, peer});
}
HALFGRAD_EMULATOR_API ncclResult_t ncclRecv(void* output, size_t count, ncclDataType_t type,
                                            int peer, ncclComm_t communicator,
                                            cudaStream_t stream) {
  return give_call(
      communicator, stream,
      {CallKind::receive, "ncclRecv", nullptr, output, count, type, Reduction{}, peer});
}

HALFGRAD_EMULATOR_API ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar,
                                                            ncclDataType_t type,
                                                            ncclScalarResidence_t residence,
                                                            ncclComm_t communicator) {
  constexpr const char* kFunction = "ncclRedOpCreatePreMulSum";
  if (!is_communicator(communicator, kFunction)) return ncclInvalidArgument;
  if (op == nullptr || scalar == nullptr || !is_type(type)) {
    return refuse_nccl(kFunction, ncclInvalidArgument, "a null pointer, or a wrong datatype");
  }
  if (residence != ncclScalarHostImmediate) {
    return refuse_nccl(kFunction, ncclInvalidUsage, "the emulator reads the factor on the host");
  }
  communicator->factors.push_back(value_of(scalar, type));
  *op = static_cast<ncclRedOp_t>(ncclNumOps + communicator->factors.size() - 1);
  return ncclSuccess;
}
HALFGRAD_EMULATOR_API ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t communicator) {
  constexpr const char* kFunction = "ncclRedOpDestroy";
  if (!is_communicator(communicator, kFunction)) return ncclInvalidArgument;
  const auto index = static_cast<std::size_t>(op) - ncclNumOps;
  if (op < ncclNumOps || index >= communicator->factors.size()) {
    return refuse_nccl(kFunction, ncclInvalidArgument, "the reduction was not created");
  }
  communicator->factors[index] = std::numeric_limits<double>::quiet_NaN();
  return ncclSuccess;
}
