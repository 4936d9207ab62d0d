"""Arrays for kernels of Triton in its interpreter, TRITON_INTERPRET=1, which needs neither PyTorch nor a GPU."""


class TritonArray:
    """An array of NumPy with the methods of PyTorch's tensors that Triton's interpreter calls.

    The interpreter gets the array's own address: nothing is copied.
    """

    def __init__(self, array):
        self.array = array

    @property
    def dtype(self):
        return self.array.dtype

    @property
    def shape(self):
        return self.array.shape

    def size(self):
        return self.array.shape

    def numel(self):
        return self.array.size

    def stride(self, dim=None):
        strides = tuple(stride // self.array.itemsize for stride in self.array.strides)
        return strides if dim is None else strides[dim]

    def data_ptr(self):
        return self.array.ctypes.data

    def storage_offset(self):
        return 0

    # The interpreter copies tensors of a GPU by their storages. This storage is the array itself.

    def untyped_storage(self):
        return self

    def cpu(self):
        return self

    def new_empty(self, *_, **__):
        return TritonArray(self.array)

    def set_(self, storage, *_):
        self.array = storage.array

    def copy_(self, _):
        return self
