"""Chapter 10: predicts from addresses alone what four kernels of y = x w^T ask of memory.

The C++ program compares with the counters of the emulator; the kernels are CUDA only."""

from collections.abc import Callable

import course

SIZE, TILE, LANES, BANKS, HALF, FLOAT = 64, 32, 32, 32, 2, 4
STORED_SECTORS = SIZE * SIZE * FLOAT // 32


def sectors(of_lane: Callable[[int], int]) -> int:
    """Memory is read in sectors of 32 bytes."""
    return len({of_lane(lane) // 32 for lane in range(LANES)})


def conflicts(of_lane: Callable[[int], int]) -> int:
    """Repetitions of an access until the bank that is wanted most has delivered all its words."""
    words = {of_lane(lane) // 4 for lane in range(LANES)}
    return max(sum(1 for word in words if word % BANKS == bank) for bank in range(BANKS)) - 1


def naive() -> dict[str, int]:
    loads = SIZE * SIZE // LANES * SIZE  # by each warp, from each operand
    of_x, of_w = sectors(lambda lane: 0), sectors(lambda lane: lane * SIZE * HALF)
    return {"sectors": STORED_SECTORS + loads * (of_x + of_w), "bytes": loads * (HALF + LANES * HALF),
            "conflicts": 0}


def with_tiles(stride: int, on_tensor_cores: bool) -> dict[str, int]:
    blocks, steps = (SIZE // TILE) ** 2, SIZE // TILE
    row_copies = blocks * steps * 2 * TILE
    of_w = 0 if on_tensor_cores else conflicts(lambda lane: lane * stride * HALF)
    return {"sectors": STORED_SECTORS + row_copies * sectors(lambda lane: lane * HALF),
            "bytes": row_copies * TILE * HALF, "conflicts": blocks * steps * 8 * TILE * of_w}


def main(chapter: course.Chapter) -> None:
    print("One load of a warp:")
    chapter.fact("naive_x_sectors", sectors(lambda lane: 0))
    chapter.fact("naive_w_sectors", sectors(lambda lane: lane * SIZE * HALF))
    chapter.fact("row_sectors", sectors(lambda lane: lane * HALF))
    chapter.fact("tiled_conflicts_a_load", conflicts(lambda lane: lane * 32 * HALF))
    chapter.fact("padded_conflicts_a_load", conflicts(lambda lane: lane * 34 * HALF))
    kernels = {"naive": naive(), "tiled": with_tiles(32, False), "padded": with_tiles(34, False),
               "tensor_core": with_tiles(48, True)}
    for name, counters in kernels.items():
        print(f"{name}:")
        for counter, value in counters.items():
            chapter.fact(f"{name}_{counter}", value)
        chapter.fact(name + "_flops_a_byte", 2 * SIZE**3 / counters["bytes"])
    chapter.fact("tensor_core_flops", 2 * SIZE**3)


if __name__ == "__main__":
    course.run(main, "10_tensor_core", "Predicts the counters of four kernels of a matrix product.")
