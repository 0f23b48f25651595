// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the service sees of the file system, by mounts of its own: what each
 * setting means is written in systemd.exec(5).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "confine.h"

static void mount_or_die(const char *from, const char *to, const char *type, unsigned long flags,
			 const char *data)
{
	if (mount(from, to, type, flags, data))
		die("mounting on %s: %m", to);
}

static bool missing(const char *path)
{
	return access(path, F_OK) != 0;
}

static void set_read_only(const char *path, bool on)
{
	struct mount_attr attr = {0};

	if (on)
		attr.attr_set = MOUNT_ATTR_RDONLY;
	else
		attr.attr_clr = MOUNT_ATTR_RDONLY;
	if (mount_setattr(AT_FDCWD, path, AT_RECURSIVE, &attr, sizeof(attr)))
		die("making %s read-only: %m", path);
}

static void read_only(const char *path)
{
	if (missing(path))
		return;
	mount_or_die(path, path, NULL, MS_BIND | MS_REC, NULL);
	set_read_only(path, true);
}

/* An empty one of mode 000 in its place. */
static void inaccessible(const char *path)
{
	struct stat st;
	char from[] = "/run/confine-file-XXXXXX";
	int fd;

	if (stat(path, &st))
		return;
	if (S_ISDIR(st.st_mode)) {
		mount_or_die("tmpfs", path, "tmpfs", MS_RDONLY | MS_NODEV | MS_NOEXEC, "mode=000");
		return;
	}
	fd = mkostemp(from, O_CLOEXEC);
	if (fd < 0 || fchmod(fd, 0))
		die("%s: %m", from);
	close(fd);
	mount_or_die(from, path, NULL, MS_BIND, NULL);
	unlink(from);
}

static void each(const char *const *paths, void (*fn)(const char *path))
{
	for (; *paths; paths++)
		fn(*paths);
}

static void private_dev(void)
{
	static const struct {
		const char *name;
		unsigned int minor;
	} nodes[] = {{"null", 3}, {"zero", 5}, {"full", 7}, {"random", 8}, {"urandom", 9}};
	char dir[] = "/run/confine-dev-XXXXXX", path[64];

	if (!mkdtemp(dir))
		die("%s: %m", dir);
	mount_or_die("tmpfs", dir, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755");
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, nodes[i].name);
		if (mknod(path, S_IFCHR | 0666, makedev(1, nodes[i].minor)) || chmod(path, 0666))
			die("%s: %m", path);
	}
	mount_or_die(dir, "/dev", NULL, MS_MOVE, NULL);
	rmdir(dir);
}

static void protect_system(const struct unit *u)
{
	static const char *const except[] = {"/dev", "/proc", "/sys", NULL};
	const char *value = unit_get(u, "ProtectSystem");

	if (!value)
		return;
	if (strcmp(value, "strict") != 0)
		die("ProtectSystem=%s is not understood here", value);
	set_read_only("/", true);
	for (size_t i = 0; except[i]; i++)
		if (!missing(except[i]))
			set_read_only(except[i], false);
}

static void protect_proc(const struct unit *u)
{
	const char *hide = unit_get(u, "ProtectProc"), *subset = unit_get(u, "ProcSubset");
	char data[64];

	if (!hide)
		hide = "default";
	if (!subset)
		subset = "all";
	if (strcmp(subset, "all") != 0 && strcmp(subset, "pid") != 0)
		die("ProcSubset=%s is not understood here", subset);
	if (strcmp(hide, "default") == 0 && strcmp(subset, "all") == 0)
		return;
	snprintf(data, sizeof(data), "hidepid=%s%s", strcmp(hide, "default") ? hide : "off",
		 strcmp(subset, "pid") ? "" : ",subset=pid");
	mount_or_die("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, data);
}

static void protect_tunables(void)
{
	static const char *const ro[] = {
		"/proc/acpi", "/proc/asound",	     "/proc/bus",	  "/proc/fs",
		"/proc/irq",  "/proc/latency_stats", "/proc/mtrr",	  "/proc/scsi",
		"/proc/sys",  "/proc/sysrq-trigger", "/proc/timer_stats", "/sys",
		NULL};
	static const char *const none[] = {"/proc/kallsyms", "/proc/kcore", NULL};

	each(ro, read_only);
	each(none, inaccessible);
}

static void writable(void *arg, char *path)
{
	(void)arg;
	if (*path == '-' && missing(++path))
		return;
	mount_or_die(path, path, NULL, MS_BIND | MS_REC, NULL);
	set_read_only(path, false);
}

void apply_mounts(const struct unit *u)
{
	static const char *const homes[] = {"/home", "/root", "/run/user", NULL};
	static const char *const logs[] = {"/proc/kmsg", "/dev/kmsg", NULL};

	if (unit_on(u, "PrivateDevices"))
		private_dev();
	protect_proc(u);
	if (unit_on(u, "ProtectKernelLogs"))
		each(logs, inaccessible);
	if (unit_on(u, "ProtectKernelModules"))
		inaccessible("/usr/lib/modules");
	if (unit_on(u, "ProtectKernelTunables"))
		protect_tunables();
	if (unit_on(u, "ProtectControlGroups"))
		read_only("/sys/fs/cgroup");
	protect_system(u);
	if (unit_on(u, "ProtectKernelTunables"))
		set_read_only("/sys", true);
	if (unit_on(u, "ProtectHome"))
		each(homes, inaccessible);
	if (unit_on(u, "PrivateTmp")) {
		mount_or_die("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
		mount_or_die("tmpfs", "/var/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
	}
	for (size_t i = 0; i < u->n; i++)
		if (strcmp(u->settings[i].key, "ReadWritePaths") == 0)
			each_word(u->settings[i].value, writable, NULL);
}

void bind_file(const char *pair)
{
	char *from = strdup(pair), *to = from ? strchr(from, ':') : NULL;

	if (!to)
		die("no FROM:TO: %s", pair);
	*to++ = '\0';
	mount_or_die(from, to, NULL, MS_BIND, NULL);
	free(from);
}
