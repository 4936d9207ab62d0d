"""Switches under the names of torch.backends. halfgrad's own are `cpu.allow_amx`,
`cuda.allow_warpgroup_mlp` and `cuda.matmul.allow_relu_mask`."""

from ._halfgrad import cpu as _cpu
from ._halfgrad import cuda as _cpp

__all__ = ["cpu", "cuda", "cudnn"]


class _Cpu:
    """Products on a CPU."""

    @property
    def allow_amx(self) -> bool:
        """Whether products of 16-bit matrices may use AMX, where the processor has it: they are
        faster then, and their last bits differ from those of other processors."""
        return _cpu.allow_amx()

    @allow_amx.setter
    def allow_amx(self, allow: bool) -> None:
        _cpu.set_allow_amx(allow)


class _Matmul:
    """Products on a GPU."""

    @property
    def allow_tf32(self) -> bool:
        """Whether products of float32 may round their operands to TF32."""
        return _cpp.allow_tf32()

    @allow_tf32.setter
    def allow_tf32(self, allow: bool) -> None:
        _cpp.set_allow_tf32(allow)

    @property
    def allow_fp16_reduced_precision_reduction(self) -> bool:
        """Whether partial sums of products of float16 may be added in float16. False by default;
        PyTorch's default is True."""
        return _cpp.allow_fp16_reduced_precision_reduction()

    @allow_fp16_reduced_precision_reduction.setter
    def allow_fp16_reduced_precision_reduction(self, allow: bool) -> None:
        _cpp.set_allow_fp16_reduced_precision_reduction(allow)

    @property
    def allow_relu_mask(self) -> bool:
        """Whether large products may compute relu. That saves a launch, but NaN may become 0."""
        return _cpp.allow_relu_mask()

    @allow_relu_mask.setter
    def allow_relu_mask(self, allow: bool) -> None:
        _cpp.set_allow_relu_mask(allow)


class _Cuda:
    matmul = _Matmul()

    @property
    def allow_warpgroup_mlp(self) -> bool:
        """Whether `functional.mlp` and `FusedMLP` may compute gradients by the warpgroups of an
        H100. That has run in the GPU emulator only."""
        return _cpp.allow_warpgroup_mlp()

    @allow_warpgroup_mlp.setter
    def allow_warpgroup_mlp(self, allow: bool) -> None:
        _cpp.set_allow_warpgroup_mlp(allow)


class _Cudnn:
    """halfgrad does not use cuDNN, and all its algorithms are deterministic: assigning the switches
    changes nothing else."""

    enabled = False
    benchmark = False
    deterministic = True
    allow_tf32 = False

    def is_available(self) -> bool:
        """False."""
        return False


cpu = _Cpu()
cuda = _Cuda()
cudnn = _Cudnn()
