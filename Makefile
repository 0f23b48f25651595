# SPDX-License-Identifier: GPL-2.0-or-later
#
# make            build/tmigr
# make demo       install what is missing, build, and do the main job here
# make check      install what is missing, and run all the tests
# make static     build/static/tmigr, one file that runs anywhere;
#                 ARCH=arm64: build/static-arm64/tmigr, cross-built
# make check-board [BOARD=name|all] [KERNEL=series|image|all] [SESSIONS=names] [JOBS=N]
#                 the static program on virtual boards (tests/board/README.md)
# make lint       clang-format, clang-tidy and cppcheck over the sources
# make bench      measure this tool beside its peers
# make bench-board [BOARD=name] [KERNEL=series|image]  the same on a virtual board, in instructions
# make install    programs, units, man pages and completion [DESTDIR= PREFIX=/usr/local
#                 BINDIR= SBINDIR= UNITDIR= SYSUSERSDIR= MANDIR= BASHCOMPDIR=
#                 ZSHCOMPDIR= FISHCOMPDIR=]; make uninstall takes them away again
#
# make dist       the last commit as a tarball, the same bytes always [DIST=dist]
# make release    that, static programs for amd64 and arm64, and SHA256SUMS
#
# TRACECMD=0 NCURSES=0 GSL=0 PERFETTO=0 ZSTD=0 build without these (README, "Building").
#
# V=1 shows commands; SANITIZE=1 builds into build-asan with ASan and UBSan;
# WERROR=1 makes warnings errors; B=DIR builds there (a tree that is read-only).

MAKEFLAGS += --no-builtin-rules --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:

SANITIZE ?= 0
WERROR ?= 0
V ?= 0
export PYTHONDONTWRITEBYTECODE := 1
ifeq ($(SANITIZE),1)
B ?= build-asan
else
B ?= build
endif
Q := $(if $(filter 1,$(V)),,@)
msg = $(if $(filter 1,$(V)),,@printf '  %-8s%s\n' $(1) $(2))

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config
LLVM_STRIP ?= $(firstword $(shell command -v llvm-strip llvm-strip-14 2>/dev/null) llvm-strip)

# Cross-building (make static ARCH=...): Debian's cross compiler, and that
# architecture's libraries in a folder of their own.
ifneq ($(CROSS),)
TRIPLET := $(if $(filter arm64,$(CROSS)),aarch64-linux-gnu,$(error ARCH=$(CROSS): only arm64 is known))
CC := $(TRIPLET)-gcc
PKG_CONFIG := env PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(TRIPLET)/pkgconfig pkg-config
endif

PACKAGES := libbpf libtracefs libtraceevent jansson
# What comes by itself with make demo, check and bench is only told of otherwise.
ifeq ($(filter deps demo check check-board bench bench-board clean,$(MAKECMDGOALS))$(CROSS),)
ifneq ($(shell for i in $(firstword $(CC)) $(firstword $(CLANG)) $(BPFTOOL); do command -v $$i; done 2>/dev/null | wc -l) \
	$(shell $(PKG_CONFIG) --exists $(PACKAGES) 2>/dev/null && echo there),3 there)
$(warning what the build needs is not all there: scripts/install-deps installs it)
endif
endif
# The oldest that this is built and tested with.
HASH := \#
MINIMUM := libbpf=1.1 libtracefs=1.6 libtraceevent=1.7 jansson=2.14 libzstd=1.5
too_old := $(shell for m in $(MINIMUM); do p=$${m%=*} v=$${m$(HASH)*=}; \
	! $(PKG_CONFIG) --exists $$p 2>/dev/null || $(PKG_CONFIG) --atleast-version=$$v $$p || \
	echo "$$p $$($(PKG_CONFIG) --modversion $$p) is too old: $$v or later is needed."; done)
ifneq ($(too_old),)
$(error $(too_old))
endif
# This tree's own repository: not one around it, and whoever owns it.
VERSION := $(shell git --git-dir=.git --work-tree=. describe --tags --always --dirty 2>/dev/null || cat .version 2>/dev/null || echo 0.1)

# What the core lives without is taken where it is there; SWITCH=0 leaves it out, SWITCH=1
# insists on it. Of libtracecmd Debian has no archive to link statically.
SWITCHES := TRACECMD NCURSES GSL PERFETTO ZSTD
PKG_TRACECMD := libtracecmd
PKG_NCURSES := ncursesw
PKG_GSL := gsl
PKG_PERFETTO := libprotobuf-c
PKG_ZSTD := libzstd
PROTOC_C ?= protoc-c
there = $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null && echo 1)
TRACECMD ?= $(if $(filter 1,$(STATIC)),,$(call there,$(PKG_TRACECMD)))
NCURSES ?= $(call there,$(PKG_NCURSES))
GSL ?= $(call there,$(PKG_GSL))
PERFETTO ?= $(and $(call there,$(PKG_PERFETTO)),$(shell command -v $(PROTOC_C)),1)
ZSTD ?= $(call there,$(PKG_ZSTD))
# Found out once, not for each file.
$(foreach s,$(SWITCHES),$(eval override $(s) := $(filter 1,$($(s)))))
ON := $(foreach s,$(SWITCHES),$(if $($(s)),$(s)))
$(foreach s,$(ON),$(if $(call there,$(PKG_$(s))),,$(error $(s)=1, but $(PKG_CONFIG) finds no $(PKG_$(s)))))
# libtracecmd and ncursesw are asked for apart: only some programs, or no archive, have them.
PACKAGES += $(foreach s,$(filter GSL PERFETTO ZSTD,$(ON)),$(PKG_$(s)))
TRACECMD_LIBS := $(if $(TRACECMD),$(shell $(PKG_CONFIG) --libs libtracecmd))
CURSES_LIBS := $(if $(NCURSES),$(shell $(PKG_CONFIG) $(if $(filter 1,$(STATIC)),--static) --libs ncursesw))

CFLAGS ?= -O2 -g
LDFLAGS += -Wl,--as-needed
WARN := -Wall -Wextra -Wshadow -Wformat=2 $(if $(filter 1,$(WERROR)),-Werror)
PACKAGE_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) $(if $(TRACECMD),libtracecmd) 2>/dev/null)
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(CPPFLAGS) $(WARN) -Iinclude -I$(B) $(ON:%=-DTMIGR_%) \
	$(PACKAGE_CFLAGS) -MMD -MP $(CFLAGS)
LIBS = $(TRACECMD_LIBS) $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null) -lm
ifeq ($(SANITIZE),1)
ALL_CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
LDFLAGS += -fsanitize=address,undefined
endif
ifeq ($(STATIC),1)
# Once more at the end: lib/libelf_static.c.
LIBS = $(TRACECMD_LIBS) $(shell $(PKG_CONFIG) --static --libs $(PACKAGES) 2>/dev/null) $(B)/libtmigr.a -lm
LDFLAGS += -static -s
endif

# The BPF object needs no header of the machine it is built on but libbpf's and
# the kernel's uapi; the multiarch folder holds asm/types.h.
BPF_TARGET_ARCH := $(shell $(CC) -dumpmachine 2>/dev/null | cut -d- -f1 | sed 's/x86_64/x86/; s/aarch64/arm64/; s/ppc64le/powerpc/; s/riscv64/riscv/')
BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -MMD -MP $(WARN) -D__TARGET_ARCH_$(BPF_TARGET_ARCH) -Iinclude -Ibpf \
	-I/usr/include/$(shell gcc -print-multiarch 2>/dev/null)

LIB_OBJ := $(patsubst lib/%.c,$(B)/lib/%.o,$(wildcard lib/*.c)) $(if $(PERFETTO),$(B)/perfetto.pb-c.o)
TOOL_OBJ := $(patsubst tools/%.c,$(B)/tools/%.o,$(wildcard tools/*.c))
DAEMON_OBJ := $(patsubst daemon/%.c,$(B)/daemon/%.o,$(wildcard daemon/*.c))
BPF_SKEL := $(patsubst bpf/%.bpf.c,$(B)/%.skel.h,$(wildcard bpf/*.bpf.c))
UNIT := $(patsubst tests/unit/test_%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
TEST_LIB_OBJ := $(patsubst tests/lib/%.c,$(B)/tests/lib/%.o,$(wildcard tests/lib/*.c))
TEST_PROGS := $(patsubst tests/programs/%.c,$(B)/tests/programs/%,$(wildcard tests/programs/*.c))
# Fuzz harnesses, where clang has libFuzzer: with its own instrumentation of what
# they test.
FUZZER := $(wildcard $(shell $(CLANG) -print-resource-dir 2>/dev/null)/lib/linux/libclang_rt.fuzzer-$(shell uname -m).a)
FUZZ := $(if $(FUZZER),$(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(wildcard tests/fuzz/*.c)))
BENCH := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/*.c))

.PHONY: all
all: $(B)/tmigr $(B)/tmigrd

.PHONY: build-all
build-all: all $(UNIT) $(TEST_PROGS) $(BENCH) $(FUZZ)

$(B)/tmigr: $(TOOL_OBJ) $(B)/libtmigr.a
	$(call msg,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) $(CURSES_LIBS)

$(B)/tmigrd: $(DAEMON_OBJ) $(B)/libtmigr.a
	$(call msg,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# The interface descriptions, without the line on our license, as C strings.
$(B)/daemon/methods.o: $(B)/interface.inc $(B)/service.inc
$(B)/interface.inc: daemon/org.tmigrd.varlink
$(B)/service.inc: daemon/org.varlink.service.varlink
$(B)/interface.inc $(B)/service.inc:
	$(Q)mkdir -p $(@D)
	$(Q)sed '/^# SPDX-/d; s/[\\"]/\\&/g; s/.*/"&\\n"/' $< > $@

# The style sheet of HTML reports, without its comments, as C strings.
$(B)/lib/html_style.o $(B)/fuzz/lib/html_style.o: $(B)/html.inc
$(B)/html.inc: lib/html.css
	$(Q)mkdir -p $(@D)
	$(Q)sed '/^\/\*.*\*\/$$/d; s/^\t*//; s/[\\"]/\\&/g; s/.*/"&\\n"/' $< > $@

$(B)/libtmigr.a: $(LIB_OBJ)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/%.o: %.c $(B)/switches | $(BPF_SKEL) $(B)/version.h
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Perfetto's packets, as C.
ifneq ($(PERFETTO),)
$(B)/lib/perfetto_write.o: $(B)/perfetto.pb-c.h
$(B)/perfetto.pb-c.h: $(B)/perfetto.pb-c.c ;
$(B)/perfetto.pb-c.c: lib/perfetto.proto
	$(call msg,PROTO,$@)
	$(Q)mkdir -p $(@D)
	@# A protoc-c that works calls itself deprecated.
	$(Q)said=$$($(PROTOC_C) -Ilib --c_out=$(@D) perfetto.proto 2>&1) || { echo "$$said" >&2; exit 1; }
$(B)/perfetto.pb-c.o: $(B)/perfetto.pb-c.c
	$(call msg,CC,$@)
	$(Q)$(CC) $(filter-out -W%,$(ALL_CFLAGS)) -c -o $@ $<
endif

# Rewritten only when the version changes; whoever prints it includes it.
$(B)/version.h: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '#define TMIGR_VERSION "$(VERSION)"' | cmp -s - $@ || \
		echo '#define TMIGR_VERSION "$(VERSION)"' > $@
# What is built with other switches is built anew.
$(B)/switches: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(ON)' | cmp -s - $@ || echo '$(ON)' > $@
.PHONY: FORCE
FORCE:

$(B)/%.bpf.o: bpf/%.bpf.c
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@ $<
	$(Q)$(LLVM_STRIP) -g $@

$(B)/%.skel.h: $(B)/%.bpf.o
	$(call msg,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst .,_,$*)_bpf > $@

$(B)/tests/unit/%: $(B)/tests/unit/test_%.o $(TEST_LIB_OBJ) $(B)/libtmigr.a
	$(call msg,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka -lm

# From an archive, so that what uses no cmocka can be linked statically without it.
$(B)/tests/libtests.a: $(TEST_LIB_OBJ)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/tests/programs/%: $(B)/tests/programs/%.o $(B)/tests/libtests.a $(B)/libtmigr.a
	$(call msg,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) $(if $(filter 1,$(STATIC)),,-lcmocka) -lm

# What a harness tests is built once more, with libFuzzer's instrumentation.
FUZZ_CFLAGS := -std=c11 -D_GNU_SOURCE -Iinclude -I$(B) -g -O1 -fno-omit-frame-pointer -MMD -MP \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
$(B)/fuzz/%.o: %.c | $(BPF_SKEL) $(B)/version.h
	$(call msg,FUZZ-CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) $(ZSTD:1=-DTMIGR_ZSTD) $(PACKAGE_CFLAGS) -c -o $@ $<

$(B)/fuzz/libtmigr.a: $(patsubst lib/%.c,$(B)/fuzz/lib/%.o,$(wildcard lib/*.c))
	$(call msg,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

# The daemon's request path: its methods are the harness's.
FUZZ_DAEMON := $(patsubst daemon/%.c,$(B)/fuzz/daemon/%.o,$(filter-out daemon/main.c,$(wildcard daemon/*.c)))
$(B)/fuzz/daemon/methods.o: $(B)/interface.inc $(B)/service.inc
$(B)/tests/fuzz/request: $(FUZZ_DAEMON)
$(B)/tests/fuzz/request: FUZZ_LDFLAGS := -Wl,--wrap=methods_call

$(B)/tests/fuzz/%: $(B)/fuzz/tests/fuzz/%.o $(B)/fuzz/libtmigr.a
	$(call msg,FUZZ,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -fsanitize=fuzzer,address,undefined $(FUZZ_LDFLAGS) -o $@ \
		$(filter %.o,$^) $(B)/fuzz/libtmigr.a $(LIBS)

$(B)/bench/%: $(B)/bench/%.o $(B)/libtmigr.a
	$(call msg,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lm

# The launcher of the hardened daemon's test is of several files.
CONFINE_OBJ := $(patsubst tests/confine/%.c,$(B)/tests/confine/%.o,$(wildcard tests/confine/*.c))
$(B)/tests/programs/confine: $(B)/tests/programs/confine.o $(CONFINE_OBJ)
	$(call msg,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lseccomp

STATIC_B = $(B)/static$(ARCH:%=-%)
# What the boards run beside the program.
BOARD_PROGS := $(addprefix tests/programs/,engine-selftest engine-tree)
.PHONY: static static-board
static: STATIC_PROGS = tmigr
static-board: STATIC_PROGS = tmigr tmigrd $(BOARD_PROGS)
static static-board:
	$(Q)$(if $(ARCH),scripts/install-deps --check $(ARCH) &&) \
	sysroot=$(if $(ARCH),$$(tests/board/sysroot $(ARCH))) && \
	$(MAKE) STATIC=1 CROSS=$(ARCH) SYSROOT="$$sysroot" B=$(STATIC_B) CFLAGS=-O2 \
		$(STATIC_PROGS:%=$(STATIC_B)/%)

DIST ?= dist
.PHONY: dist release print-version print-switches
print-version:
	@echo $(VERSION)
print-switches:
	@echo $(foreach s,$(SWITCHES),$(s)=$(or $($(s)),0))
dist:
	$(Q)scripts/dist $(DIST)
release:
	$(Q)$(MAKE) static STATIC_PROGS='tmigr tmigrd'
	$(Q)$(MAKE) static ARCH=arm64 STATIC_PROGS='tmigr tmigrd'
	$(Q)scripts/release $(DIST) amd64=$(B)/static arm64=$(B)/static-arm64

.PHONY: check-board
check-board:
	$(Q)scripts/install-deps --board || echo "check-board: goes on with what is here" >&2
	$(Q)tests/board/check.py --board $(or $(BOARD),rk3576) --kernel $(or $(KERNEL),6.12 7.3) \
		$(if $(SESSIONS),--only $(SESSIONS)) $(if $(JOBS),--jobs $(JOBS)) $(if $(KEEP),--keep $(KEEP))

.PHONY: deps demo check check-only lint bench bench-board
deps:
	$(Q)scripts/install-deps

# By sudo in a user's tree, what was built is the user's: a later make goes on.
give = $(Q)[ "$$(id -u)" != 0 ] || chown -hR --reference=Makefile $(1) 2>/dev/null || :

demo:
	$(Q)scripts/install-deps || echo "demo: goes on with what is here" >&2
	$(Q)$(MAKE) all $(B)/tests/programs/tm-load
	$(call give,$(B))
	$(Q)scripts/demo $(B)/tmigr

# The whole suite twice: the ordinary build, then ASan+UBSan.
check:
	$(Q)scripts/install-deps tests
	$(Q)$(MAKE) build-all
	$(Q)$(MAKE) SANITIZE=1 B=$(B)-asan build-all
	$(call give,$(B) $(B)-asan)
	$(Q)tests/run-all $(B) $(B)-asan

# One build's suite, nothing installed: make check-only [SANITIZE=1] [T='tests/cli/*.t']
check-only: build-all
	$(Q)tests/run-all $(B)

# The code's form, and what clang-tidy and cppcheck see in it.
lint: all
	$(Q)scripts/lint $(B) $(filter-out -MMD -MP -W% -O% -g,$(ALL_CFLAGS))

bench: deps
	$(Q)$(MAKE) build-all
	$(call give,$(B))
	$(Q)bench/run $(B)

# What tracing costs where one instruction is one nanosecond, and what it disturbs.
bench-board:
	$(Q)scripts/install-deps --board || echo "bench-board: goes on with what is here" >&2
	$(Q)bench/board --board $(or $(BOARD),rk3576) --kernel $(or $(KERNEL),7.3)
	$(Q)bench/disturbance --board $(or $(BOARD),rk3576) --kernel $(or $(KERNEL),7.3)

# The units name the programs where PREFIX puts them.
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
SBINDIR ?= $(PREFIX)/sbin
UNITDIR ?= $(or $(shell $(PKG_CONFIG) --variable=systemdsystemunitdir systemd 2>/dev/null),$(PREFIX)/lib/systemd/system)
SYSUSERSDIR ?= $(or $(shell $(PKG_CONFIG) --variable=sysusersdir systemd 2>/dev/null),$(PREFIX)/lib/sysusers.d)
MANDIR ?= $(PREFIX)/share/man
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR ?= $(PREFIX)/share/fish/vendor_completions.d
INSTALL ?= install
MAN := $(wildcard man/*.[1578])
# Where a page goes: man1, man5, ...
man_section = man$(subst .,,$(suffix $(1)))
UNITS := tmigrd.service tmigrd.socket tmigrd-metrics.service tmigrd-metrics.timer

.PHONY: install uninstall
install: all
	$(Q)$(INSTALL) -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(SBINDIR)' '$(DESTDIR)$(UNITDIR)' '$(DESTDIR)$(SYSUSERSDIR)'
	$(Q)$(INSTALL) -m 755 $(B)/tmigr '$(DESTDIR)$(BINDIR)/tmigr'
	$(Q)$(INSTALL) -m 755 $(B)/tmigrd '$(DESTDIR)$(SBINDIR)/tmigrd'
	$(Q)for u in $(UNITS); do \
		sed 's|/usr/sbin/tmigrd|$(SBINDIR)/tmigrd|; s|/usr/bin/tmigr |$(BINDIR)/tmigr |' systemd/$$u \
			> $(B)/$$u && $(INSTALL) -m 644 $(B)/$$u '$(DESTDIR)$(UNITDIR)/'$$u || exit 1; \
	done
	$(Q)$(INSTALL) -m 644 systemd/tmigrd.sysusers '$(DESTDIR)$(SYSUSERSDIR)/tmigrd.conf'
	$(Q)$(foreach m,$(MAN),$(INSTALL) -D -m 644 $(m) '$(DESTDIR)$(MANDIR)/$(call man_section,$(m))/$(notdir $(m))' &&) :
	$(Q)$(INSTALL) -d '$(DESTDIR)$(BASHCOMPDIR)' '$(DESTDIR)$(ZSHCOMPDIR)' '$(DESTDIR)$(FISHCOMPDIR)'
	$(Q)$(INSTALL) -m 644 completion/tmigr.bash '$(DESTDIR)$(BASHCOMPDIR)/tmigr'
	$(Q)ln -sf tmigr '$(DESTDIR)$(BASHCOMPDIR)/tmigrd'
	$(Q)for s in zsh fish; do \
		sed 's|@BASHCOMPDIR@|$(BASHCOMPDIR)|' completion/tmigr.$$s > $(B)/completion.$$s || exit 1; \
	done
	$(Q)$(INSTALL) -m 644 $(B)/completion.zsh '$(DESTDIR)$(ZSHCOMPDIR)/_tmigr'
	$(Q)$(INSTALL) -m 644 $(B)/completion.fish '$(DESTDIR)$(FISHCOMPDIR)/tmigr.fish'

uninstall:
	$(Q)rm -f '$(DESTDIR)$(BINDIR)/tmigr' '$(DESTDIR)$(SBINDIR)/tmigrd' \
		$(UNITS:%='$(DESTDIR)$(UNITDIR)/%') '$(DESTDIR)$(SYSUSERSDIR)/tmigrd.conf' \
		$(foreach m,$(MAN),'$(DESTDIR)$(MANDIR)/$(call man_section,$(m))/$(notdir $(m))') \
		'$(DESTDIR)$(BASHCOMPDIR)/tmigr' '$(DESTDIR)$(BASHCOMPDIR)/tmigrd' \
		'$(DESTDIR)$(ZSHCOMPDIR)/_tmigr' '$(DESTDIR)$(FISHCOMPDIR)/tmigr.fish'

.PHONY: clean
clean:
	$(Q)rm -rf build build-asan

-include $(shell find $(B) -name '*.d' 2>/dev/null)
