"""Functions of functions, as torch.func: a module called with other parameters, and gradients."""

from typing import Any, Callable, Iterator, Mapping, Sequence, Union

from . import autograd
from ._halfgrad import Tensor
from .nn import Module
from .nn.registration import assign_unregistered

__all__ = ["functional_call", "grad", "grad_and_value"]


def functional_call(module: Module,
                    parameter_and_buffer_dicts: Union[Mapping[str, Tensor],
                                                      Sequence[Mapping[str, Tensor]]],
                    args: Any = None, kwargs: Any = None, *, tie_weights: bool = True,
                    strict: bool = False) -> Any:
    """Calls the module with these tensors for its parameters and buffers of these names.

    The module is as before afterwards. With tie_weights a tensor also stands for the other names of
    its parameter. With strict every parameter and buffer needs a tensor. Raises KeyError for a name
    that the module does not have.
    """
    dicts = parameter_and_buffer_dicts
    given: dict[str, Tensor] = {}
    for part in [dicts] if isinstance(dicts, Mapping) else dicts:
        given.update(part)
    own = dict(module.named_parameters(remove_duplicate=False))
    own.update(module.named_buffers(remove_duplicate=False))
    unknown = given.keys() - own.keys()
    if unknown or (strict and own.keys() - given.keys()):
        raise (KeyError if unknown else RuntimeError)(
            f"functional_call: expected names of {sorted(own)}, got {sorted(given)}")
    if tie_weights:
        tied = {name: value for known, value in given.items() for name, tensor in own.items()
                if name not in given and tensor.is_same(own[known])}
        given.update(tied)
    places = {name: (module.get_submodule(name.rpartition(".")[0]), name.rpartition(".")[2])
              for name in given}
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    try:
        for name, (owner, attribute) in places.items():
            assign_unregistered(owner, attribute, given[name])
        return module(*arguments, **(kwargs or {}))
    finally:
        for name, (owner, attribute) in places.items():
            assign_unregistered(owner, attribute, own[name])


def _leaves(tree: Any) -> Iterator[Tensor]:
    """The tensors of nested dicts, lists and tuples."""
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, Mapping):
        for part in tree.values():
            yield from _leaves(part)
    elif isinstance(tree, (list, tuple)):
        for part in tree:
            yield from _leaves(part)


def _replaced(tree: Any, leaves: Iterator[Any]) -> Any:
    """The tree with the next ones of `leaves` for its tensors."""
    if isinstance(tree, Tensor):
        return next(leaves)
    if isinstance(tree, Mapping):
        return {key: _replaced(part, leaves) for key, part in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)([_replaced(part, leaves) for part in tree])
    return tree


def grad_and_value(func: Callable[..., Any], argnums: Union[int, tuple[int, ...]] = 0,
                   has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of func with respect to its arguments `argnums`, and the
    value. An argument is a tensor, or dicts, lists and tuples of them; its gradient has the same
    form. With has_aux func returns (output, other), and the value is that pair."""
    places = (argnums,) if isinstance(argnums, int) else argnums

    def computed(*args: Any, **kwargs: Any) -> Any:
        trees = [args[place] for place in places]
        leaves = list(_leaves(trees))
        with autograd.enable_grad():
            # A view: gradients stop there, unless an outer grad() asks for them.
            inputs = [leaf.view_as(leaf) if leaf.requires_grad else leaf.detach().requires_grad_()
                      for leaf in leaves]
            passed = list(args)
            for place, tree in zip(places, _replaced(trees, iter(inputs))):
                passed[place] = tree
            result = func(*passed, **kwargs)
            output = result[0] if has_aux else result
            outer = any(leaf.requires_grad for leaf in leaves)
            gradients = autograd.grad(output, inputs, create_graph=outer, materialize_grads=True)
        if not outer:
            output = output.detach()
        value = output
        if has_aux:
            other = result[1]
            value = output, (other.detach() if isinstance(other, Tensor) and not outer else other)
        found = _replaced(trees, iter(gradients))
        return (found[0] if isinstance(argnums, int) else tuple(found)), value

    return computed


def grad(func: Callable[..., Any], argnums: Union[int, tuple[int, ...]] = 0,
         has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of func, whose output has one element, with respect to
    its arguments `argnums`; with has_aux (gradient, other)."""
    both = grad_and_value(func, argnums, has_aux)

    def computed(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return computed
