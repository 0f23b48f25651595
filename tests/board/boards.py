# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual boards: one table, and the device tree that makes QEMU's machine into one of them."""

import dataclasses

import devicetree


@dataclasses.dataclass(frozen=True)
class Board:
    """What a board is. `capacity`: one figure a CPU, empty for x86, which has no device tree."""

    name: str
    arch: str
    capacity: tuple
    model: str = ""
    nodes: int = 1  # NUMA nodes, CPUs spread evenly in order
    levels: int = 1  # of the timer migration hierarchy
    timer_stops: bool = False  # cpu-sleep stops the CPU's timer: broadcast instead
    x86_cpus: int = 0
    # entry latency, exit latency, target residency of cpu-sleep
    sleep_us: tuple = (120, 250, 900)

    @property
    def cpus(self):
        return len(self.capacity) or self.x86_cpus

    @property
    def clusters(self):
        """Runs of neighbours of one capacity, as lists of CPUs."""
        runs = []
        for cpu, cap in enumerate(self.capacity):
            if not runs or self.capacity[cpu - 1] != cap:
                runs.append([])
            runs[-1].append(cpu)
        return runs


BOARDS = {
    b.name: b
    for b in (
        # capacities and states of a Radxa ROCK 4D
        Board("rk3576", "arm64", (442,) * 4 + (1024,) * 4, "4+4, like an RK3576"),
        # five classes, the fastest CPUs first and last in the numbering
        Board("o6", "arm64", (1024,) + (279,) * 4 + (866,) * 2 + (905,) * 2 + (984,) * 2 + (1024,),
              "12 CPUs in five classes", levels=2),
        Board("numa24", "arm64", (1024,) * 24, "24 CPUs on two nodes", nodes=2, levels=3),
        Board("bcast", "arm64", (442,) * 4 + (1024,) * 4, "4+4, local timers stop in cpu-sleep",
              timer_stops=True),
        Board("x86-16", "amd64", (), "16 CPUs without a cpuidle driver", x86_cpus=16, levels=2),
    )
}

# A standby state, which is all that QEMU's PSCI takes.
PSCI_STANDBY = 0x1


def device_tree(board, blob):
    """The board's device tree, made of the one that QEMU dumped for as many CPUs."""
    root, reserved = devicetree.parse(blob)
    root.set("model", f"virtual board {board.name}: {board.model}")
    # The secure machine adds a memory node without a NUMA id, on which the
    # kernel gives up NUMA for all of them.
    root.children = [c for c in root.children if not c.name.startswith("secram@")]

    cpus = root.child("cpus")
    nodes = [c for c in cpus.children if c.name.startswith("cpu@")]
    nodes.sort(key=lambda n: n.cells("reg")[-1])
    assert len(nodes) == board.cpus, (len(nodes), board.cpus)
    phandle = max(n.cells("phandle")[0] for n in root.walk() if "phandle" in n.props) + 1

    for node, capacity in zip(nodes, board.capacity):
        node.set("capacity-dmips-mhz", capacity)
        node.set("cpu-idle-states", phandle)
    cpus.children = [c for c in cpus.children if c.name != "cpu-map"]
    socket = cpus.add("cpu-map").add("socket0")
    for i, cluster in enumerate(board.clusters):
        group = socket.add(f"cluster{i}")
        for j, cpu in enumerate(cluster):
            group.add(f"core{j}", cpu=nodes[cpu].cells("phandle"))

    entry, leave, residency = board.sleep_us
    sleep = cpus.add("idle-states", entry_method="psci").add(
        "cpu-sleep", compatible="arm,idle-state", arm__psci_suspend_param=PSCI_STANDBY,
        entry_latency_us=entry, exit_latency_us=leave, min_residency_us=residency, phandle=phandle)
    sleep.props["arm,psci-suspend-param"] = sleep.props.pop("arm--psci-suspend-param")
    if board.timer_stops:
        sleep.set("local-timer-stop", True)
        root.child("timer").props.pop("always-on", None)
    return devicetree.serialize(root, reserved)
