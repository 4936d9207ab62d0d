"""Attention of several heads as a module."""

from typing import Any, Optional, Tuple

from .. import _halfgrad
from .._halfgrad import Tensor, dtype
from .._halfgrad.nn import Linear, Module
from . import functional as F, init
from .registration import Parameter


class MultiheadAttention(Module):
    """Attention of num_heads heads, each with embed_dim / num_heads features of projections of the
    query, the key and the value (Vaswani et al. 2017). Names, defaults and masks are PyTorch's."""

    in_proj_bias: Optional[Tensor]
    bias_k: Optional[Tensor]
    bias_v: Optional[Tensor]

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 add_bias_kv: bool = False, add_zero_attn: bool = False,
                 kdim: Optional[int] = None, vdim: Optional[int] = None,
                 batch_first: bool = False, device: Any = None,
                 dtype: Optional[dtype] = None) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError("MultiheadAttention: expected a positive embed_dim that num_heads "
                             f"divides, got {embed_dim} and {num_heads}")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.head_dim, self.batch_first = embed_dim // num_heads, batch_first
        self.add_zero_attn = add_zero_attn
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim

        def register(name: str, exists: bool, *sizes: int) -> None:
            made = _halfgrad.empty(sizes, device=device, dtype=dtype) if exists else None
            self.register_parameter(name, None if made is None else Parameter(made))

        same = self.kdim == self.vdim == embed_dim
        register("in_proj_weight", same, 3 * embed_dim, embed_dim)
        register("q_proj_weight", not same, embed_dim, embed_dim)
        register("k_proj_weight", not same, embed_dim, self.kdim)
        register("v_proj_weight", not same, embed_dim, self.vdim)
        register("in_proj_bias", bias, 3 * embed_dim)
        register("bias_k", add_bias_kv, 1, 1, embed_dim)
        register("bias_v", add_bias_kv, 1, 1, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight,
                       self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        for row in (self.bias_k, self.bias_v):
            if row is not None:
                init.xavier_normal_(row)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)

    def forward(self, query: Tensor, key: Tensor, value: Tensor,
                key_padding_mask: Optional[Tensor] = None, need_weights: bool = True,
                attn_mask: Optional[Tensor] = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> Tuple[Tensor, Optional[Tensor]]:
        """Returns the output and the weights, or None for them unless `need_weights`.

        query is [l, n, embed_dim], key [s, n, kdim], value [s, n, vdim], with n first if
        batch_first, or without n. Masks of bool hide keys where they are True; others are added to
        the scores. key_padding_mask is [n, s], attn_mask [l, s] or [n * num_heads, l, s]. is_causal
        says that attn_mask is causal, and needs it.
        """
        transposes = self.batch_first and query.dim() == 3
        if transposes:
            is_self = query is key and key is value
            query = query.transpose(0, 1)
            key, value = (query, query) if is_self else (key.transpose(0, 1), value.transpose(0, 1))
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask, need_weights,
            attn_mask, self.in_proj_weight is None, self.q_proj_weight, self.k_proj_weight,
            self.v_proj_weight, average_attn_weights, is_causal)
        return output.transpose(0, 1) if transposes else output, weights
