"""Switches under the names of torch.backends, and `cpu.allow_amx`."""

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


class _Cuda:
    matmul = _Matmul()


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
