#include <halfgrad/autograd/tensor.h>
#include <halfgrad/compat/torch.h>

/// Does not compile, because the first header already gave item() the type double; compat/names.h
/// says what to change.
