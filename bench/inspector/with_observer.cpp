// The two places where an op meets its observer, apply() and the backward pass, as in the library,
// and compiled with the options of without_observer.cpp: the programs differ in the comparison
// alone.
#include "../../autograd/backward.cpp"
#include "../../autograd/graph/op.cpp"
