# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots a board under QEMU's emulation, runs a script in it, and brings a folder out."""

import functools
import hashlib
import os
import io
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import time

from boards import device_tree
from initramfs import Archive
from packages import Unavailable, cache_dir, root

HERE = pathlib.Path(__file__).parent
QEMU = {"arm64": "qemu-system-aarch64", "amd64": "qemu-system-x86_64"}
CROSS_CC = {"arm64": "aarch64-linux-gnu-gcc", "amd64": "x86_64-linux-gnu-gcc"}
CONSOLE = {"arm64": "ttyAMA0", "amd64": "ttyS0"}
# The last four: two of them on each kernel.
BOOT_EVENTS = ("tmigr_connect_cpu_parent", "tmigr_connect_child_parent", "tmigr_group_set",
               "tmigr_cpu_available", "tmigr_cpu_unavailable", "tmigr_cpu_online",
               "tmigr_cpu_offline")


# What brings results out, in the order in which they need one another.
PORT_MODULES = ("virtio", "virtio_ring", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci",
                "virtio_console")


class BootFailed(Exception):
    """The guest did not deliver; the text ends with the console's last lines."""


def need(program, package):
    if not shutil.which(program):
        raise Unavailable(f"{program} is not here (Debian: {package})")
    return program


def cross_build(source, arch):
    """A static program for the guest, kept in the cache by its source's hash."""
    cc = need(CROSS_CC[arch], "gcc-aarch64-linux-gnu" if arch == "arm64" else "gcc")
    text = source.read_bytes()
    out = cache_dir() / "programs" / f"{source.stem}-{arch}-{hashlib.sha256(text).hexdigest()[:16]}"
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_name(f"{out.name}.{os.getpid()}.part")
        subprocess.run([cc, "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror",
                        "-static", "-s", "-o", part, source], check=True)
        part.rename(out)
    return out


def _machine(board, memory_mb):
    """QEMU's arguments for the machine alone."""
    argv = ["-smp", str(board.cpus), "-m", f"{memory_mb}M"]
    if board.arch == "arm64":
        # Without the secure world (and with more CPUs than GICv2 can have) the
        # first cpu-sleep never ends.
        argv = ["-cpu", "cortex-a57", *argv]
        machine = "virt,gic-version=3,secure=on"
    else:
        argv = ["-cpu", "max", *argv]
        machine = "q35"
    if board.nodes > 1:
        each = board.cpus // board.nodes
        for i in range(board.nodes):
            argv += ["-object", f"memory-backend-ram,id=m{i},size={memory_mb // board.nodes}M",
                     "-numa", f"node,nodeid={i},memdev=m{i},cpus={i * each}-{(i + 1) * each - 1}"]
    return machine, argv


def _device_tree(board, qemu, machine, argv, folder):
    dump = folder / "qemu.dtb"
    subprocess.run([qemu, "-machine", f"{machine},dumpdtb={dump}", *argv, "-display", "none",
                    "-net", "none"], check=True, capture_output=True, stdin=subprocess.DEVNULL)
    blob = folder / "board.dtb"
    blob.write_bytes(device_tree(board, dump.read_bytes()))
    return blob


@functools.cache
def base(arch):
    """What every guest has: busybox, the workload program, init."""
    archive = Archive()
    for path in ("dev", "proc", "sys", "out", "tmp", "bin"):
        archive.directory(path)
    archive.device("dev/console", 5, 1)
    (busybox,) = root(arch).unpack("busybox-static", root(arch).release()).glob("**/bin/busybox")
    archive.file("bin/busybox", busybox.read_bytes())
    archive.link("bin/sh", "busybox")
    archive.file("bin/tmwork", cross_build(HERE / "tmwork.c", arch).read_bytes())
    archive.file("init", (HERE / "guest" / "init").read_bytes())
    archive.file("guest/lib.sh", (HERE / "guest" / "lib.sh").read_bytes())
    return bytes(archive)


def _modules(kernel):
    """{path in the guest: bytes} of the drivers that a packaged kernel has not built in (before 6.12)."""
    folder = pathlib.Path(kernel).resolve().parent.parent / "lib" / "modules"
    found = [path for name in PORT_MODULES for path in folder.glob(f"*/kernel/drivers/**/{name}.ko")]
    return {f"modules/{i}-{path.name}": path.read_bytes() for i, path in enumerate(found)}


def run(board, kernel, script, files=None, append="", events=(), timeout_s=180, memory_mb=1024):
    """Boots `kernel` (an image's path) on `board` and runs the shell text `script` there.

    `files`: {path in the guest: bytes}. `events`: "SYSTEM:EVENT" that the boot is traced with, too. The script leaves its results in /out;
    they come back as {name: bytes}, with the console's text as "console".
    """
    qemu = need(QEMU[board.arch],
                "qemu-system-arm" if board.arch == "arm64" else "qemu-system-x86")
    own = Archive()
    own.file("guest/script", script.encode())
    for path, body in {**_modules(kernel), **(files or {})}.items():
        own.file(path, body)
    with tempfile.TemporaryDirectory(prefix="board-") as folder:
        folder = pathlib.Path(folder)
        initrd = folder / "initrd"
        initrd.write_bytes(base(board.arch) + bytes(own))
        machine, argv = _machine(board, memory_mb)
        if board.arch == "arm64":
            argv += ["-dtb", _device_tree(board, qemu, machine, argv, folder)]
        traced = ",".join([f"timer_migration:{e}" for e in BOOT_EVENTS] + list(events))
        argv = [
            qemu, "-machine", machine, *argv,
            "-kernel", kernel, "-initrd", initrd,
            "-append", f"console={CONSOLE[board.arch]} panic=-1 trace_event={traced} "
                       f"trace_clock=mono host_time={time.time():.0f} {append}",
            # One instruction is one nanosecond of the guest's time: its timers
            # come when they should, however slow or busy the host is.
            "-icount", "shift=0,sleep=off", "-rtc", "clock=vm,base=2026-01-01T00:00:00",
            "-display", "none", "-monitor", "none", "-serial", f"file:{folder / 'console'}",
            "-no-reboot", "-net", "none", "-device", "virtio-serial-pci",
            "-chardev", f"file,id=out,path={folder / 'out.tar'}",
            "-device", "virtserialport,chardev=out,name=out",
        ]
        why = None
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=timeout_s)
            if done.returncode:
                why = f"QEMU ended with {done.returncode}: {done.stderr.decode()[-300:]}"
        except subprocess.TimeoutExpired:
            why = f"the guest did not end in {timeout_s} s"
        return _results(folder, why)


def _results(folder, why):
    console = folder / "console"
    text = console.read_bytes() if console.exists() else b""
    results = {"console": text}
    try:
        with tarfile.open(fileobj=io.BytesIO((folder / "out.tar").read_bytes())) as tar:
            for member in tar:
                if member.isfile():
                    results[member.name.removeprefix("./")] = tar.extractfile(member).read()
    except (OSError, tarfile.TarError) as e:
        why = why or f"no results came out of the guest ({e})"
    if why:
        tail = b"\n".join(text.splitlines()[-15:]).decode(errors="replace")
        raise BootFailed(f"{why}; the console's end:\n{tail}")
    return results
