"""The launch of a kernel that a few resident blocks run together (kernels/graph/block_group.cuh)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..runtime.launch import Launcher

QUEUE_BYTES = 1 << 16  # of each of a block's two queues, in global memory


class GroupLaunch(NamedTuple):
    """A kept launch and its blocks."""

    launch: Any
    blocks: int


def group_launch(
    launcher: Launcher, header: str, name: str, template: tuple[str, ...], count: int, blocks: int, threads: int
) -> GroupLaunch:
    """The launch of `name`<template...> on at most `blocks` resident blocks.  count: its arguments."""
    threads = launcher.threads(threads)
    kernel = launcher.kernel(header, name, "", template)
    blocks = min(launcher.few_blocks(blocks), kernel.resident_blocks(threads))
    return GroupLaunch(kernel.launch(count, blocks, threads, cooperative=True), blocks)
