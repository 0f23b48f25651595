// SPDX-License-Identifier: GPL-2.0-or-later
/* A unit file's [Service] section. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "confine.h"

static char *strip(char *text)
{
	size_t n;

	text += strspn(text, " \t\r\n");
	n = strlen(text);
	while (n && strchr(" \t\r\n", text[n - 1]))
		text[--n] = '\0';
	return text;
}

static void add(struct unit *u, const char *key, const char *value)
{
	struct setting *s = realloc(u->settings, (u->n + 1) * sizeof(*s));

	if (!s)
		die("no memory");
	u->settings = s;
	s[u->n].key = strdup(key);
	s[u->n].value = strdup(value);
	if (!s[u->n].key || !s[u->n].value)
		die("no memory");
	u->n++;
}

static void add_line(struct unit *u, const char *path, char *line)
{
	char *eq = strchr(line, '=');

	if (!eq)
		die("%s: no setting: %s", path, line);
	*eq = '\0';
	add(u, strip(line), strip(eq + 1));
}

void unit_read(struct unit *u, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL, *text;
	bool service = false;
	size_t size = 0, n;

	if (!file)
		die("%s: %m", path);
	while (getline(&line, &size, file) >= 0) {
		text = strip(line);
		n = strlen(text);
		if (!n || *text == '#' || *text == ';')
			continue;
		if (text[n - 1] == '\\')
			die("%s: continued lines are not understood here", path);
		if (*text == '[')
			service = strcmp(text, "[Service]") == 0;
		else if (service)
			add_line(u, path, text);
	}
	free(line);
	fclose(file);
}

void unit_override(struct unit *u, const char *assignment)
{
	char *line = strdup(assignment), *eq = line ? strchr(line, '=') : NULL;
	size_t kept = 0;

	if (!eq)
		die("no setting: %s", assignment);
	*eq = '\0';
	for (size_t i = 0; i < u->n; i++)
		if (strcmp(u->settings[i].key, line) != 0)
			u->settings[kept++] = u->settings[i];
	u->n = kept;
	add(u, line, eq + 1);
	free(line);
}

const char *unit_get(const struct unit *u, const char *key)
{
	const char *value = NULL;

	for (size_t i = 0; i < u->n; i++)
		if (strcmp(u->settings[i].key, key) == 0)
			value = u->settings[i].value;
	return value;
}

bool unit_on(const struct unit *u, const char *key)
{
	const char *value = unit_get(u, key);

	if (!value || strcmp(value, "no") == 0)
		return false;
	if (strcmp(value, "yes") != 0)
		die("%s=%s: yes or no is understood here", key, value);
	return true;
}

void each_word(char *text, void (*fn)(void *arg, char *word), void *arg)
{
	char *save, *word;

	for (word = strtok_r(text, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
		fn(arg, word);
}
