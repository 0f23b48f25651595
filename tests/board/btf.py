# SPDX-License-Identifier: GPL-2.0-or-later
"""BPF type information (Documentation/bpf/btf.rst): a small part of a kernel's,
with the same layout, for tests that need what only that kernel has."""

import re
import struct

PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF = 2, 3, 4, 5, 6, 7, 8
FUNC_PROTO, VAR, DATASEC, DECL_TAG, ENUM64 = 13, 14, 15, 17, 19
# Bytes behind the 12 of a type: fixed, or for each of its members.
FIXED = {1: 4, ARRAY: 12, VAR: 4, DECL_TAG: 4}
EACH = {STRUCT: 12, UNION: 12, ENUM: 8, FUNC_PROTO: 8, DATASEC: 12, ENUM64: 12}
REFERS = {PTR, TYPEDEF, 9, 10, 11, 12, FUNC_PROTO, VAR, DECL_TAG, 18}

ROOTS = re.compile(r"btf_trace_(tmigr_\w+|cpu_idle(_miss)?|cpuhp_(enter|exit))")
VARIABLES = {"tmigr_cpu", "runqueues"}
# Structures, whole or with some members; others become empty ones of their size,
# or only names where they are pointed at.
WANTED = {
    "tmigr_cpu": None, "tmigr_group": None, "tmigr_event": None, "tmigr_hierarchy": None,
    "timerqueue_node": None, "rq": {"cpu", "curr", "idle", "idle_state"},
    "cpuidle_state": {"name"}, "cfs_rq": {"rq"}, "sched_entity": {"cfs_rq"}, "task_struct": {"se"},
}
ENUMERATORS = {"cpuhp_state": {"CPUHP_TEARDOWN_CPU", "CPUHP_BRINGUP_CPU"}}


class Type:
    """One type: `size` is also the type it refers to; `tail` is what kind defines."""

    def __init__(self, name, info, size, tail):
        self.name, self.info, self.size, self.tail = name, info, size, tail
        self.kind = info >> 24 & 0x1F


def parse(blob):
    """([None, types...], function that gives the string at an offset)"""
    magic, _, _, head, at, length, strings, _ = struct.unpack_from("<HBBIIIII", blob)
    if magic != 0xEB9F:
        raise ValueError("not BTF of a little-endian machine")
    base = head + strings

    def text(offset):
        return blob[base + offset:blob.index(b"\0", base + offset)].decode()

    types, at, end = [None], head + at, head + at + length
    while at < end:
        name, info, size = struct.unpack_from("<III", blob, at)
        t = Type(text(name), info, size, b"")
        tail = FIXED.get(t.kind, 0) + EACH.get(t.kind, 0) * (info & 0xFFFF)
        t.tail = blob[at + 12:at + 12 + tail]
        types.append(t)
        at += 12 + tail
    return types, text


class Subset:
    """Copies types on demand; bytes() is the file."""

    def __init__(self, blob):
        self.types, self.text = parse(blob)
        self.ids, self.forward, self.out = {0: 0}, {}, []
        self.strings, self.offsets = bytearray(b"\0"), {"": 0}

    def string(self, text):
        if text not in self.offsets:
            self.offsets[text] = len(self.strings)
            self.strings += text.encode() + b"\0"
        return self.offsets[text]

    def add(self, t, info, size, tail=b""):
        self.out.append(struct.pack("<III", self.string(t.name), info, size) + tail)
        return len(self.out)

    def keeps(self, type_id, members):
        """A member is wanted by its name, or because it is an unnamed one that holds one that is."""
        for name, inner, _ in struct.iter_unpack("<III", self.types[type_id].tail):
            inner_type = self.types[inner]
            if self.text(name) in members or (
                    not self.text(name) and inner_type.kind in (STRUCT, UNION) and
                    self.keeps(inner, members)):
                return True
        return False

    def members(self, t, only):
        """The members to copy, as (name offset in the blob, type, offset)."""
        for name, inner, offset in struct.iter_unpack("<III", t.tail):
            unnamed = not self.text(name) and self.types[inner].kind in (STRUCT, UNION)
            if only is None or self.text(name) in only or (unnamed and self.keeps(inner, only)):
                yield self.text(name), inner, offset

    def copy_struct(self, type_id, t, only):
        # Its number is needed first: structures refer to themselves.
        self.out.append(b"")
        new = self.ids[type_id] = len(self.out)
        tail, n = b"", 0
        for name, inner, offset in self.members(t, only):
            of = self.types[inner]
            deeper = only if not of.name and of.kind in (STRUCT, UNION) else None
            tail += struct.pack("<III", self.string(name), self.copy(inner, deeper), offset)
            n += 1
        info = t.info & ~0xFFFF | n
        self.out[new - 1] = struct.pack("<III", self.string(t.name), info, t.size) + tail
        return new

    def pointed_at(self, type_id):
        t = self.types[type_id]
        if t and t.kind in (STRUCT, UNION) and t.name and t.name not in WANTED:
            if t.name not in self.forward:
                info = FWD << 24 | (t.kind == UNION) << 31
                self.forward[t.name] = self.add(t, info, 0)
            return self.forward[t.name]
        return self.copy(type_id)

    def copy(self, type_id, only=None):
        if type_id in self.ids:
            return self.ids[type_id]
        t = self.types[type_id]
        if t.kind in (STRUCT, UNION):
            if t.name:
                only = WANTED.get(t.name, set())
            return self.copy_struct(type_id, t, only)
        info, size, tail = t.info, t.size, t.tail
        if t.kind == PTR:
            size = self.pointed_at(size)
        elif t.kind in REFERS:
            size = self.copy(size)
        if t.kind == ARRAY:
            of, index, count = struct.unpack("<III", tail)
            tail = struct.pack("<III", self.copy(of), self.copy(index), count)
        elif t.kind == FUNC_PROTO:
            tail = b"".join(struct.pack("<II", self.string(self.text(name)), self.copy(arg))
                            for name, arg in struct.iter_unpack("<II", tail))
        elif t.kind in (ENUM, ENUM64):
            info, tail = self.enum(t)
        self.ids[type_id] = self.add(t, info, size, tail)
        return self.ids[type_id]

    def enum(self, t):
        form = "<Ii" if t.kind == ENUM else "<III"
        values = [(self.text(v[0]), *v[1:]) for v in struct.iter_unpack(form, t.tail)]
        values = [v for v in values if v[0] in ENUMERATORS.get(t.name, ())]
        tail = b"".join(struct.pack(form, self.string(v[0]), *v[1:]) for v in values)
        return t.info & ~0xFFFF | len(values), tail

    def section(self, t):
        tail = b""
        for var, offset, size in struct.iter_unpack("<III", t.tail):
            if self.types[var].name in VARIABLES:
                tail += struct.pack("<III", self.copy(var), offset, size)
        self.add(t, t.info & ~0xFFFF | len(tail) // 12, t.size, tail)

    def __bytes__(self):
        body = b"".join(self.out)
        return struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(body), len(body),
                           len(self.strings)) + body + bytes(self.strings)


def subset(blob):
    """The part of a kernel's BTF that the product looks at."""
    part = Subset(blob)
    for type_id, t in enumerate(part.types):
        if t and ((t.kind == TYPEDEF and ROOTS.fullmatch(t.name)) or
                  (t.kind == STRUCT and t.name in WANTED) or
                  (t.kind == ENUM and t.name in ENUMERATORS)):
            part.copy(type_id)
    for t in part.types[1:]:
        if t.kind == DATASEC and t.name == ".data..percpu":
            part.section(t)
    return bytes(part)
