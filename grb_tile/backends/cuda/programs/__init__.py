"""Captured programs: a loop's turn is recorded once, as a CUDA graph or as steps of one kernel, and runs on
the device until its condition fails.

graph.py        CUDA graphs with WHILE nodes, by the driver's functions
slots.py        what a loop carries from turn to turn: arrays at fixed addresses
turns.py        the loop: its turns in each direction, their end, the launch
steps.py        the launches of a turn as steps of one kernel, in levels with barriers between
touched.py      which memory a launch touches, and which positions belong to which block
numbers.py      the numbers that every block computes for itself
fused.py        steps over the same positions as one pass
turn_products.py  products: what they need not clear, and count beside
persistent.py   that kernel: its text, its launch
"""
