/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe of BTF that the caller has open, for one who needs it afterwards. */
#ifndef TMIGR_FEATURES_PRIV_H
#define TMIGR_FEATURES_PRIV_H

#include "kernel_btf.h"
#include "tmigr/features.h"

#define TMIGR_KERNEL_BTF_FILE "/sys/kernel/btf/vmlinux"

/* As tmigr_features_probe(); @k NULL: no BTF. */
int tmigr_features_of(const struct kbtf *k, const char *kallsyms_path, struct tmigr_features *ret,
		      struct tmigr_err *err);

#endif
