# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages of another architecture or release: downloaded and unpacked, never installed.

Everything happens in an apt root of its own below the cache folder. Where the
packages come from is taken from the machine's own apt configuration; only the
suites are chosen here. A package is unpacked once and found again in the cache.
"""

import contextlib
import fcntl
import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

# Where Debian keeps kernels newer than a release's own, oldest first.
KERNEL_SUITES = ("bookworm-backports", "trixie", "trixie-backports")
LISTS_MAX_AGE_S = 24 * 3600
# A package that does not come in this time does not come.
APT_TIMEOUT_S = 300


class Unavailable(Exception):
    """Something this machine cannot provide; the text is the reason to skip."""


def cache_dir():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "tmigrd" / "boards"


def _stanzas():
    """(uri, suite, keyring or None) of every source that apt is configured with."""
    etc = pathlib.Path("/etc/apt")
    for path in sorted(etc.glob("sources.list.d/*.sources")):
        for stanza in re.split(r"\n\s*\n", path.read_text()):
            fields = dict(re.findall(r"^([A-Za-z-]+):[ \t]*(.*)$", stanza, re.M))
            if "deb" in fields.get("Types", "").split():
                for uri in fields.get("URIs", "").split():
                    for suite in fields.get("Suites", "").split():
                        yield uri.rstrip("/"), suite, fields.get("Signed-By")
    lists = [etc / "sources.list", *sorted(etc.glob("sources.list.d/*.list"))]
    for path in (p for p in lists if p.exists()):
        for line in path.read_text().splitlines():
            m = re.match(r"\s*deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)", line)
            if m:
                key = re.search(r"signed-by=(\S+)", m.group(1) or "")
                yield m.group(2).rstrip("/"), m.group(3), key and key.group(1)


def _release():
    """Codename of the Debian release that this machine runs."""
    text = pathlib.Path("/etc/os-release").read_text()
    fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.M))
    if fields.get("ID") != "debian" or "VERSION_CODENAME" not in fields:
        raise Unavailable("no Debian machine, so no Debian packages")
    return fields["VERSION_CODENAME"]


def _mirror():
    """(uri, keyring or None) that this machine takes Debian itself from."""
    release = _release()
    for uri, suite, keyring in _stanzas():
        if suite == release and uri.endswith("/debian"):
            return uri, keyring
    for uri, suite, keyring in _stanzas():
        if suite == release:
            return uri, keyring
    raise Unavailable(f"apt has no source for {release}")


class Root:
    """An apt root for one architecture."""

    def __init__(self, arch):
        self.arch = arch
        self.dir = cache_dir() / f"apt-{arch}"
        for sub in ("lists/partial", "archives/partial", "unpacked"):
            (self.dir / sub).mkdir(parents=True, exist_ok=True)
        (self.dir / "status").touch()
        uri, keyring = _mirror()
        options = f"[arch={arch}" + (f" signed-by={keyring}" if keyring else "") + "]"
        suites = dict.fromkeys((_release(), *KERNEL_SUITES))
        text = "".join(f"deb {options} {uri} {suite} main\n" for suite in suites)
        self.sources = self.dir / "sources.list"
        if not self.sources.exists() or self.sources.read_text() != text:
            self.sources.write_text(text)
            (self.dir / "updated").unlink(missing_ok=True)

    def _apt(self, tool, *args, **kwargs):
        options = {
            "APT::Architecture": self.arch,
            "APT::Architectures": self.arch,
            "APT::Sandbox::User": "",
            "Acquire::Languages": "none",
            "Acquire::http::Timeout": "30",
            "Acquire::https::Timeout": "30",
            "Acquire::Retries": "2",
            "Dir::Cache": self.dir,
            "Dir::Cache::archives": self.dir / "archives",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "Dir::Etc::sourcelist": self.sources,
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State": self.dir,
            "Dir::State::lists": self.dir / "lists",
            "Dir::State::status": self.dir / "status",
        }
        argv = [tool, "-qq", *(f"-o{k}={v}" for k, v in options.items()), *args]
        try:
            return subprocess.run(argv, check=True, text=True, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=APT_TIMEOUT_S, **kwargs).stdout
        except subprocess.TimeoutExpired:
            raise Unavailable(f"{tool} {args[0]}: not done in {APT_TIMEOUT_S} s") from None
        except FileNotFoundError:
            raise Unavailable(f"{tool} is not here") from None
        except subprocess.CalledProcessError as e:
            why = next((x for x in e.stderr.splitlines() if x.startswith("E:")), "failed")
            raise Unavailable(f"{tool} {args[0]}: {why}") from None

    @contextlib.contextmanager
    def alone(self):
        """Others, who may share the cache, do not change it meanwhile."""
        with open(self.dir / "lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @functools.cached_property
    def _ready(self):
        """Package lists are there and not older than a day, or as good as we can get."""
        stamp = self.dir / "updated"
        with self.alone():
            if not stamp.exists() or time.time() - stamp.stat().st_mtime > LISTS_MAX_AGE_S:
                try:
                    self._apt("apt-get", "update")
                    stamp.touch()
                except Unavailable:
                    if not stamp.exists():  # old lists are better than none
                        raise
        return True

    @functools.cached_property
    def kernels(self):
        """Names of all packages of a kernel's image, in one call, for it takes seconds."""
        assert self._ready
        return self._apt("apt-cache", "pkgnames", "linux-image-").split()

    def closure(self, *names):
        """Packages `names` of this machine's release, and all that they need."""
        assert self._ready
        text = self._apt("apt-get", "install", "-s", "--no-install-recommends", "-t", self.release(), *names)
        return re.findall(r"^Inst (\S+)", text, re.M)

    def _place(self, name, suite):
        return self.dir / "unpacked" / (f"{name}@{suite}" if suite else name)

    def unpack(self, name, suite=None):
        """Folder with the files of package `name`, downloaded if not in the cache."""
        (place,) = self.unpack_all([name], suite)
        return place

    def unpack_all(self, names, suite=None):
        """The same of several packages, downloaded in one go."""
        places = [self._place(n, suite) for n in names]
        if not all(p.exists() for p in places):
            assert self._ready
            with self.alone():
                self._download([n for n in names if not self._place(n, suite).exists()], suite)
        return places

    def _download(self, names, suite):
        if not names:
            return  # somebody else was here first
        with tempfile.TemporaryDirectory(dir=self.dir / "archives") as folder:
            self._apt("apt-get", "download", *(f"{n}/{suite}" if suite else n for n in names), cwd=folder)
            for deb in pathlib.Path(folder).glob("*.deb"):
                self._unpack(deb, self._place(deb.name.split("_")[0], suite))

    @staticmethod
    def _unpack(deb, place):
        part = pathlib.Path(tempfile.mkdtemp(prefix=f"{place.name}.", suffix=".part", dir=place.parent))
        try:
            subprocess.run(["dpkg-deb", "-x", deb, part], check=True)
            part.rename(place)
        except OSError:
            if not place.exists():  # else somebody else who uses this cache has unpacked it meanwhile
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def release(self):
        return _release()


@functools.cache
def root(arch):
    """The one for all that is asked of an architecture: its lists are updated once."""
    return Root(arch)


def _version_key(version):
    return [int(x) for x in re.findall(r"\d+", version.split("+")[0])]


def kernel(series, arch):
    """(version, image path) of Debian's newest cloud kernel of a series such as "6.12".

    Offline, the newest one in the cache does.
    """
    place = root(arch)
    want = re.compile(rf"linux-image-({re.escape(series)}\.\d[^-]*(?:-\d+)?)-cloud-{arch}")
    try:
        names = place.kernels
    except Unavailable:
        names = [p.name for p in (place.dir / "unpacked").glob("linux-image-*")]
        if not any(want.fullmatch(n) for n in names):
            raise
    versions = [m.group(1) for m in map(want.fullmatch, names) if m]
    if not versions:
        raise Unavailable(f"no cloud kernel {series} for {arch} in {', '.join(KERNEL_SUITES)}")
    version = max(versions, key=_version_key)
    # Up to 6.18 the image is in linux-image; later that one only depends on
    # linux-binary, which since 7.2 keeps it in the modules folder.
    for package in ("linux-image", "linux-binary"):
        try:
            files = place.unpack(f"{package}-{version}-cloud-{arch}")
        except Unavailable:
            continue
        found = [*files.glob("boot/vmlinuz*"), *files.glob("usr/lib/modules/*/vmlinuz*")]
        if found:
            return version, found[0]
    raise Unavailable(f"the packages of kernel {version} hold no image")
