# SPDX-License-Identifier: GPL-2.0-or-later
"""Who is below whom, from connect events and from the group walks."""

GROUP_SET = ('tmigr_group_set_cpu_active', 'tmigr_group_set_cpu_inactive')


class Group:
    """`parent` 0: a root, as far as is known. `mask`: its own in the parent,
    0 when not seen."""
    __slots__ = ('key', 'level', 'parent', 'mask', 'node')

    def __init__(self, key, level):
        self.key, self.level = key, level
        self.parent, self.mask, self.node = 0, 0, -1


class Hierarchy:
    def __init__(self):
        self.groups = {}  # key -> Group
        self.cpus = {}    # cpu -> (level-0 group, mask)

    def _group(self, key, level):
        return self.groups.setdefault(key, Group(key, level))

    def learn(self, events):
        """Adds what @events tell; a later event wins."""
        walk = {}  # CPU -> its last group_set event: the step below
        for e in events:
            f = e.f
            if e.name == 'tmigr_group_set':
                self._group(f['group'], f['lvl']).node = f.get('numa', -1)
            elif e.name == 'tmigr_connect_cpu_parent':
                self._group(f['parent'], f['lvl'])
                self.cpus[f['cpu']] = (f['parent'], f['childmask'])
            elif e.name == 'tmigr_connect_child_parent':
                self._group(f['parent'], f['lvl'])
                child = self._group(f['group'], f['lvl'] - 1)
                child.parent, child.mask = f['parent'], f['childmask']
            elif e.name in GROUP_SET:
                g = self._group(f['group'], f['lvl'])
                g.node = f.get('numa', -1)
                if f['parent']:
                    g.parent = f['parent']
                below = walk.get(e.cpu)
                if f['lvl'] == 0:
                    self.cpus[e.cpu] = (g.key, f['childmask'])
                elif (below and below.name == e.name
                      and below.f['parent'] == g.key):
                    self.groups[below.f['group']].mask = f['childmask']
                walk[e.cpu] = e

    def top(self, group):
        """The root above a group."""
        while self.groups[group].parent:
            group = self.groups[group].parent
        return group

    def roots(self):
        """[(root group, sorted CPUs below it)], by the lowest CPU."""
        cpus = {}
        for cpu, (group, _) in self.cpus.items():
            cpus.setdefault(self.top(group), []).append(cpu)
        return sorted(((g, sorted(c)) for g, c in cpus.items()),
                      key=lambda r: r[1][0])

    def children(self):
        """{(group, mask): ('cpu', cpu) or ('group', key)}"""
        out = {at: ('cpu', cpu) for cpu, at in self.cpus.items()}
        for g in self.groups.values():
            if g.parent and g.mask:
                out[g.parent, g.mask] = ('group', g.key)
        return out
