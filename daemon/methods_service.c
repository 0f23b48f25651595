// SPDX-License-Identifier: GPL-2.0-or-later
/* org.varlink.service: what every Varlink service says of itself. */
#include <string.h>

#include "version.h"
#include "methods.h"
#include "tmigrd.h"

void method_get_info(struct client *c, json_t *params)
{
	json_t *names = json_array();

	(void)params;
	for (const struct interface *i = interfaces; i->name; i++)
		json_array_append_new(names, json_string(i->name));
	client_reply(c, json_pack("{ss ss ss ss so}", "vendor", "tmigrd", "product", "tmigrd",
				  "version", TMIGR_VERSION, "url", "", "interfaces", names));
}

void method_get_interface_description(struct client *c, json_t *params)
{
	const char *name = param_string(params, "interface");

	for (const struct interface *i = interfaces; i->name; i++) {
		if (strcmp(i->name, name))
			continue;
		client_reply(c, json_pack("{ss}", "description", i->description));
		return;
	}
	client_error(c, SERVICE ".InterfaceNotFound", json_pack("{ss}", "interface", name));
}
