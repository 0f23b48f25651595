// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a static libelf lacks. Since elfutils 0.192, elf_begin() and elf_end()
 * of libelf.a call two functions of elfutils' internal library, which is not
 * installed (Debian 13). The tree they are for is filled by
 * elf_getdata_rawchunk() alone, which nothing here uses: it is always empty.
 *
 * In the archive behind libelf these are taken only where they are missing.
 */
#include <stddef.h>

struct search_tree {
	void *root;
};

void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *node));

void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *node))
{
	(void)free_node;
	tree->root = NULL;
}
