"""Sequences of several lengths in one tensor."""

from typing import Iterable

from ..._halfgrad import Tensor

__all__ = ["pad_sequence", "unpad_sequence"]


def pad_sequence(sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0,
                 padding_side: str = "right") -> Tensor:
    """Puts sequences [length, ...] into one tensor [longest, count, ...], or with batch_first
    [count, longest, ...]. The rest of a shorter one is padding_value, on the right or the left."""
    rows = list(sequences)
    if not rows or any(row.ndim == 0 or row.shape[1:] != rows[0].shape[1:] for row in rows):
        raise ValueError("pad_sequence: expected sequences of one shape but for their length, got "
                         f"{[tuple(row.shape) for row in rows]}")
    if padding_side not in ("left", "right"):
        raise ValueError("pad_sequence: expected padding_side \"left\" or \"right\", got "
                         f"\"{padding_side}\"")
    longest = max(len(row) for row in rows)
    shape = (len(rows), longest) if batch_first else (longest, len(rows))
    padded = rows[0].detach().new_full((*shape, *rows[0].shape[1:]), padding_value)
    for i, row in enumerate(rows):
        part = slice(len(row)) if padding_side == "right" else slice(longest - len(row), longest)
        if batch_first:
            padded[i, part] = row
        else:
            padded[part, i] = row
    return padded


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor,
                   batch_first: bool = False) -> list[Tensor]:
    """The sequences of pad_sequence(), of these lengths."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:length] for row, length in zip(rows, lengths.tolist())]
