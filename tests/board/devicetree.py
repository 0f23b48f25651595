# SPDX-License-Identifier: GPL-2.0-or-later
"""Flattened device trees: read one, change it, write it (Devicetree Specification v0.4, chapter 5)."""

import struct

MAGIC = 0xD00DFEED
BEGIN_NODE, END_NODE, PROP, NOP, END = 1, 2, 3, 4, 9


class Node:
    """A node: properties by name (bytes), children in order."""

    def __init__(self, name=""):
        self.name = name
        self.props = {}
        self.children = []

    def child(self, name):
        """The child of that name or, without its unit address, the first such one."""
        for c in self.children:
            if name in (c.name, c.name.split("@")[0]):
                return c
        raise KeyError(name)

    def add(self, name, **props):
        """A new child; underscores in property names stand for dashes."""
        node = Node(name)
        for key, value in props.items():
            node.set(key.replace("_", "-"), value)
        self.children.append(node)
        return node

    def set(self, name, value):
        """A property: True (no value), text, a number (a cell) or a list of cells."""
        if value is True:
            data = b""
        elif isinstance(value, str):
            data = value.encode() + b"\0"
        elif isinstance(value, int):
            data = struct.pack(">I", value)
        else:
            data = b"".join(struct.pack(">I", cell) for cell in value)
        self.props[name] = data

    def cells(self, name):
        data = self.props[name]
        return list(struct.unpack(f">{len(data) // 4}I", data))

    def walk(self):
        yield self
        for c in self.children:
            yield from c.walk()


def _cstring(blob, at):
    end = blob.index(b"\0", at)
    return blob[at:end].decode(), end + 1


def parse(blob):
    """(root node, memory reservation block) of a blob."""
    magic, _, struct_at, strings_at, reserve_at = struct.unpack_from(">5I", blob)
    if magic != MAGIC:
        raise ValueError("not a device tree blob")
    at, open_nodes, root = struct_at, [], None
    while True:
        (token,) = struct.unpack_from(">I", blob, at)
        at += 4
        if token == BEGIN_NODE:
            name, at = _cstring(blob, at)
            at = (at + 3) & ~3
            node = Node(name)
            if open_nodes:
                open_nodes[-1].children.append(node)
            else:
                root = node
            open_nodes.append(node)
        elif token == END_NODE:
            open_nodes.pop()
        elif token == PROP:
            size, name_at = struct.unpack_from(">2I", blob, at)
            name, _ = _cstring(blob, strings_at + name_at)
            open_nodes[-1].props[name] = blob[at + 8:at + 8 + size]
            at = (at + 8 + size + 3) & ~3
        elif token == END:
            break
        elif token != NOP:
            raise ValueError(f"unknown token {token} in a device tree")
    end = reserve_at
    while blob[end:end + 16] != bytes(16):
        end += 16
    return root, blob[reserve_at:end + 16]


def serialize(root, reserved=bytes(16)):
    """The blob of a tree."""
    out, strings, offsets = bytearray(), bytearray(), {}

    def pad():
        out.extend(bytes(-len(out) % 4))

    def emit(node):
        out.extend(struct.pack(">I", BEGIN_NODE) + node.name.encode() + b"\0")
        pad()
        for name, data in node.props.items():
            if name not in offsets:
                offsets[name] = len(strings)
                strings.extend(name.encode() + b"\0")
            out.extend(struct.pack(">3I", PROP, len(data), offsets[name]) + data)
            pad()
        for c in node.children:
            emit(c)
        out.extend(struct.pack(">I", END_NODE))

    emit(root)
    out.extend(struct.pack(">I", END))
    reserve_at = 40
    struct_at = reserve_at + len(reserved)
    strings_at = struct_at + len(out)
    head = struct.pack(">10I", MAGIC, strings_at + len(strings), struct_at, strings_at, reserve_at,
                       17, 16, 0, len(strings), len(out))
    return head + reserved + bytes(out) + bytes(strings)
