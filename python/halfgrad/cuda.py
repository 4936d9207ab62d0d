"""GPUs: whether this machine has one, streams, events and captured graphs."""

from typing import Any, Optional

from . import _cuda_amp as amp
from ._halfgrad import cuda as _cpp
from ._halfgrad import manual_seed as _seed
from ._halfgrad.cuda import (CUDAGraph, Event, Stream, current_stream, default_stream, device_count,
                             empty_cache, is_available, synchronize, why_unavailable)
from .regions import Region

__all__ = [
    "CUDAGraph", "Event", "Stream", "StreamContext", "amp", "current_stream", "default_stream",
    "device_count", "empty_cache", "graph", "is_available", "manual_seed", "manual_seed_all",
    "stream", "synchronize", "why_unavailable",
]


def manual_seed(seed: int) -> None:
    """Seeds the default generator, which serves all devices, if there is a GPU."""
    if is_available():
        _seed(seed)


manual_seed_all = manual_seed


class StreamContext(Region):
    """Makes a stream the current one: `with cuda.stream(s):`."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(lambda: _cpp.set_stream(stream))


stream = StreamContext


class graph:
    """Captures the work of a `with` statement: `with cuda.graph(g): ...`, then `g.replay()`."""

    def __init__(self, cuda_graph: CUDAGraph) -> None:
        self._graph = cuda_graph

    def __enter__(self) -> None:
        self._graph.capture_begin()

    def __exit__(self, error: Optional[type], *rest: Any) -> None:
        self._graph.capture_end()
