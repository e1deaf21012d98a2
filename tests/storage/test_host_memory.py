"""How much memory is free: of the process, by its limit of addresses."""

import resource

import pytest

from grb_tile.storage import host_memory

MIB = 1 << 20


def test_the_limit_of_addresses_leaves_what_is_not_in_use(monkeypatch):
    with open("/proc/self/status", encoding="ascii") as lines:
        used = next(int(line.split()[1]) for line in lines if line.startswith("VmSize:")) * 1024
    for left in (100 * MIB, 7000 * MIB):
        monkeypatch.setattr(resource, "getrlimit", lambda kind, limit=used + left: (limit, limit))
        assert host_memory._address_space() == pytest.approx(left, abs=50 * MIB)
        assert host_memory.free_bytes() <= left + 50 * MIB
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (used // 2, used // 2))
    assert host_memory._address_space() == 0
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)
    assert host_memory._address_space() is None
