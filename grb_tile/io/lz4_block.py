"""Decoding of LZ4 blocks: the format that SuiteSparse:GraphBLAS compresses arrays with (LZ4 and LZ4HC).

A block is a list of sequences: a token of two lengths of 4 bits, literals, and a match that copies earlier output.

    token | more of the literals' length | literals | offset u16 | more of the match's length

A length of 15 is continued by the bytes that follow, up to and including the first that is not 255; all are added up.
A match has 4 bytes more than its length.  The last sequence ends after its literals.  The package `lz4` is used where
it is installed, because it is 50 times as fast.

Source: "LZ4 Block Format Description", github.com/lz4/lz4, doc/lz4_Block_format.md.
"""

from __future__ import annotations

from grb_tile.exceptions import InvalidObject

LARGEST_RATIO = 255  # a byte that continues a length adds at most 255 bytes


def decode_block(block: bytes | memoryview, size: int) -> bytes:
    """The `size` bytes that `block` was compressed from.  Raises: InvalidObject when it is damaged."""
    if size > LARGEST_RATIO * len(block):
        raise InvalidObject(f"an LZ4 block of {len(block)} bytes cannot hold {size} bytes: it is damaged")
    try:
        import lz4.block
    except ImportError:
        return _decoded(bytes(block), size)
    try:
        raw = lz4.block.decompress(block, uncompressed_size=size)
    except (lz4.block.LZ4BlockError, ValueError) as error:
        raise InvalidObject(f"an LZ4 block is damaged: {error}") from None
    if len(raw) != size:
        raise InvalidObject(f"an LZ4 block has {len(raw)} bytes, {size} were expected: it is damaged")
    return raw


def _decoded(block, size):
    out = bytearray()
    at, end = 0, len(block)
    try:
        while True:
            token = block[at]
            at += 1
            count = token >> 4
            if count == 15:
                at, count = _longer(block, at, count)
            if at + count > end or len(out) + count > size:
                raise InvalidObject("an LZ4 block is damaged: literals run past its end")
            out += block[at : at + count]
            at += count
            if at == end:
                break
            offset = block[at] | block[at + 1] << 8
            at += 2
            count = token & 15
            if count == 15:
                at, count = _longer(block, at, count)
            count += 4
            start = len(out) - offset
            if offset == 0 or start < 0 or len(out) + count > size:
                raise InvalidObject("an LZ4 block is damaged: a match lies outside of what was decoded")
            if count <= offset:
                out += out[start : start + count]
            else:  # the match overlaps what it makes: it repeats with period `offset`
                out += (bytes(out[start:]) * (count // offset + 1))[:count]
    except IndexError:
        raise InvalidObject("an LZ4 block is damaged: it ends within a sequence") from None
    if len(out) != size:
        raise InvalidObject(f"an LZ4 block has {len(out)} bytes, {size} were expected: it is damaged")
    return bytes(out)


def _longer(block, at, count):
    """(position after the length, the length) of a length that further bytes continue."""
    while True:
        byte = block[at]
        at += 1
        count += byte
        if byte != 255:
            return at, count
