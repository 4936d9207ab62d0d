"""Norms and clipping of gradients."""

from .._halfgrad.nn.utils import clip_grad_norm_, clip_grad_value_, get_total_norm

__all__ = ["clip_grad_norm_", "clip_grad_value_", "get_total_norm"]
