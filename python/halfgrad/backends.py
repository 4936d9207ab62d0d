"""Switches under the names of torch.backends."""

from ._halfgrad import cuda as _cpp

__all__ = ["cuda", "cudnn"]


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


cuda = _Cuda()
cudnn = _Cudnn()
