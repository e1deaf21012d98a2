"""A shared object for Linux on x86-64 from one relocatable object, without a linker on the user's machine.

Reference: System V ABI, AMD64 supplement, sections 4.4 (relocation types) and 5.2 (dynamic linking); generic ABI,
chapters 4 and 5 (symbol table, DT_HASH).

    read and execute    headers, dynamic symbols, relocations; the object's code and constants; stubs for calls of libm
    read and write      the dynamic section, a global offset table, the object's variables

References inside the object are resolved here; references to libc and libm go through the table, which the dynamic
linker fills.
"""

import struct

PAGE = 0x1000
SHT_PROGBITS, SHT_SYMTAB, SHT_RELA, SHT_NOBITS = 1, 2, 4, 8
SHF_WRITE, SHF_ALLOC = 1, 2
SHN_UNDEF, SHN_ABS, SHN_COMMON = 0, 0xFFF1, 0xFFF2
R_64, R_PC32, R_PLT32, R_GOTPCREL, R_PC64, R_GOTPCRELX, R_REX_GOTPCRELX = 1, 2, 4, 9, 24, 41, 42
R_GLOB_DAT, R_RELATIVE = 6, 8
GLOBAL, FUNCTION = 1, 2
PT_LOAD, PT_DYNAMIC, PT_GNU_STACK = 1, 2, 0x6474E551
NEEDED, HASH, STRTAB, SYMTAB, RELA, RELASZ, RELAENT, STRSZ, SYMENT, BIND_NOW = 1, 4, 5, 6, 7, 8, 9, 10, 11, 24


class LinkError(Exception):
    """The object has an unsupported section or relocation, or needs a symbol of Numba or Python."""


def _aligned(offset, alignment):
    return -(-offset // alignment) * alignment


def _text(table, offset):
    return table[offset : table.index(b"\0", offset)].decode()


class _Object:
    """The sections, symbols and relocations of a relocatable object."""

    def __init__(self, data):
        if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", data, 16) != (1, 62):
            raise LinkError("not a relocatable object for x86-64")
        (offset,) = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + size * k) for k in range(count)]
        body = [b"" if h[1] == SHT_NOBITS else data[h[4] : h[4] + h[5]] for h in headers]
        self.sections, self.relocations, self.symbols = {}, [], []
        for k, h in enumerate(headers):
            name = _text(body[names], h[0])
            if h[1] in (SHT_PROGBITS, SHT_NOBITS) and h[2] & SHF_ALLOC and h[5] and name != ".eh_frame":
                self.sections[k] = (bool(h[2] & SHF_WRITE), max(h[8], 1), h[5], body[k])
        for k, h in enumerate(headers):
            if h[1] == SHT_RELA and h[7] in self.sections:
                for at in range(0, len(body[k]), 24):
                    where, info, addend = struct.unpack_from("<QQq", body[k], at)
                    self.relocations.append((h[7], where, info & 0xFFFFFFFF, info >> 32, addend))
            elif h[1] == SHT_SYMTAB:
                for at in range(0, len(body[k]), 24):
                    name, info, _, section, value, length = struct.unpack_from("<IBBHQQ", body[k], at)
                    self.symbols.append((_text(body[h[6]], name), info, section, value, length))


def shared_object(data, exported):
    """The bytes of a shared object that exports the functions `exported` of the relocatable object `data`.

    Raises: LinkError.
    """
    return _Image(_Object(data), exported).bytes()


class _Image:
    def __init__(self, found, exported):
        self.found = found
        self.external, self.common = [], {}
        for _, _, _, number, _ in found.relocations:
            name, _, section, alignment, size = found.symbols[number]
            if section == SHN_UNDEF and name not in self.external:
                self.external.append(name)
            elif section == SHN_COMMON:
                self.common[name] = (alignment, size)
        foreign = [name for name in self.external if name.startswith(("numba_", "NRT_", "Py", "_Py"))]
        if foreign:
            raise LinkError(f"needs {', '.join(foreign)} of Numba or Python at run time")
        self.defined = {}
        for name, _, section, value, _ in found.symbols:
            if name in exported and section in found.sections:
                self.defined[name] = (section, value)
        if len(self.defined) < len(exported):
            raise LinkError(f"defines {sorted(self.defined)}, not {sorted(exported)}")
        self._lay_out()
        self._relocate()

    def _lay_out(self):
        """Addresses of everything; the file's offsets are the same, except that the second segment starts a page."""
        found = self.found
        libraries = ("libm.so.6", "libc.so.6") if self.external else ()
        self.strings = b"\0"
        place = {}
        for name in (*self.external, *self.defined, *libraries):
            place[name] = len(self.strings)
            self.strings += name.encode() + b"\0"
        self.names, self.libraries = place, [place[name] for name in libraries]
        self.symbol_count = 1 + len(self.external) + len(self.defined)
        at = 64 + 56 * 4
        self.hash_at, at = at, at + 4 * (2 + 1 + self.symbol_count)
        self.symbols_at = at = _aligned(at, 8)
        self.strings_at = at = at + 24 * self.symbol_count
        absolute = sum(kind == R_64 for _, _, kind, _, _ in found.relocations)
        self.rela_at = at = _aligned(at + len(self.strings), 8)
        at += 24 * (len(self.external) + absolute)
        self.at = {}
        for k, (writable, alignment, size, _) in found.sections.items():
            if not writable:
                self.at[k] = at = _aligned(at, alignment)
                at += size
        self.stubs_at = at = _aligned(at, 16)
        at += 16 * len(self.external)
        self.first_end = at
        self.second = at = _aligned(at, PAGE)
        self.dynamic_at = at
        at += 16 * (len(self.libraries) + 10)
        self.got_at = at
        at += 8 * len(self.external)
        for k, (writable, alignment, size, _) in found.sections.items():
            if writable:
                self.at[k] = at = _aligned(at, alignment)
                at += size
        self.common_at = {}
        for name, (alignment, size) in self.common.items():
            self.common_at[name] = at = _aligned(at, max(alignment, 1))
            at += size
        self.end = at
        self.image = bytearray(at)

    def _address(self, number):
        name, _, section, value, _ = self.found.symbols[number]
        if section in self.at:
            return self.at[section] + value
        if section == SHN_COMMON:
            return self.common_at[name]
        if section == SHN_UNDEF:
            return self.stubs_at + 16 * self.external.index(name)
        raise LinkError(f"symbol {name!r} is in section {section}, which is not loaded")

    def _relocate(self):
        image = self.image
        for k, (_, _, _, body) in self.found.sections.items():
            image[self.at[k] : self.at[k] + len(body)] = body
        self.rela = []
        for k, where, kind, number, addend in self.found.relocations:
            at = self.at[k] + where
            name, _, section, _, _ = self.found.symbols[number]
            if kind in (R_PC32, R_PLT32):
                struct.pack_into("<i", image, at, self._address(number) + addend - at)
            elif kind == R_PC64:
                struct.pack_into("<q", image, at, self._address(number) + addend - at)
            elif kind in (R_GOTPCREL, R_GOTPCRELX, R_REX_GOTPCRELX) and section == SHN_UNDEF:
                slot = self.got_at + 8 * self.external.index(name)
                struct.pack_into("<i", image, at, slot + addend - at)
            elif (
                kind in (R_GOTPCRELX, R_REX_GOTPCRELX) and image[at - 2] == 0x8B
            ):  # mov from the table: take the address
                image[at - 2] = 0x8D
                struct.pack_into("<i", image, at, self._address(number) + addend - at)
            elif kind == R_64 and at >= self.second and section != SHN_UNDEF:
                self.rela.append((at, R_RELATIVE, self._address(number) + addend))
            else:
                raise LinkError(f"relocation of type {kind} against {name!r}")
        for k in range(len(self.external)):
            slot, stub = self.got_at + 8 * k, self.stubs_at + 16 * k
            image[stub : stub + 6] = b"\xff\x25" + struct.pack("<i", slot - (stub + 6))  # jmp *slot(%rip)
            self.rela.append((slot, (k + 1) << 32 | R_GLOB_DAT, 0))

    def bytes(self):
        image = self.image
        names = [*self.external, *self.defined]
        # one bucket: a chain of all symbols
        chain = [*range(2, self.symbol_count), 0] if names else []
        struct.pack_into(
            f"<{3 + self.symbol_count}I", image, self.hash_at, 1, self.symbol_count, min(1, len(names)), 0, *chain
        )
        for k, name in enumerate(names, 1):
            section, value = (SHN_UNDEF, 0)
            if name in self.defined:
                owner, value = self.defined[name]
                section, value = SHN_ABS - 1, self.at[owner] + value
            info = GLOBAL << 4 | (FUNCTION if section else 0)
            struct.pack_into(
                "<IBBHQQ", image, self.symbols_at + 24 * k, self.names[name], info, 0, 1 if section else 0, value, 0
            )
        image[self.strings_at : self.strings_at + len(self.strings)] = self.strings
        for k, entry in enumerate(self.rela):
            struct.pack_into("<QQq", image, self.rela_at + 24 * k, *entry)
        tags = [(NEEDED, at) for at in self.libraries]
        tags += [(HASH, self.hash_at), (STRTAB, self.strings_at), (SYMTAB, self.symbols_at), (STRSZ, len(self.strings))]
        tags += [(SYMENT, 24), (BIND_NOW, 0)]
        if self.rela:
            tags += [(RELA, self.rela_at), (RELASZ, 24 * len(self.rela)), (RELAENT, 24)]
        for k, tag in enumerate([*tags, (0, 0)]):
            struct.pack_into("<QQ", image, self.dynamic_at + 16 * k, *tag)
        self._headers(16 * (len(tags) + 1))
        return bytes(image)

    def _headers(self, dynamic_size):
        image, second = self.image, self.end - self.second
        struct.pack_into(
            "<16sHHIQQQIHHHHHH", image, 0, b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 64, 0, 0, 64, 56, 4, 64, 0, 0
        )
        segments = [
            (PT_LOAD, 5, 0, self.first_end, PAGE),
            (PT_LOAD, 6, self.second, second, PAGE),
            (PT_DYNAMIC, 6, self.dynamic_at, dynamic_size, 8),
            (PT_GNU_STACK, 6, 0, 0, 16),
        ]
        for k, (kind, flags, at, size, alignment) in enumerate(segments):
            struct.pack_into("<IIQQQQQQ", image, 64 + 56 * k, kind, flags, at, at, at, size, size, alignment)
