// SPDX-License-Identifier: GPL-2.0-or-later
/* Metrics: the specs, the lines, the result. */
#include "metrics_priv.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tmigr/info.h"

#define NAME_MAX_LEN 64
#define VALUES_MAX   4096

struct spec {
	const struct known *known; /* NULL: a regex */
	char state[64];		   /* of the known one, within one output */
	char *name, *unit;
	enum better better;
	regex_t regex;
	bool compiled;
	struct finds finds;
};

struct tmigr_metrics {
	struct spec *specs;
	size_t n;
	bool cut; /* a line was longer than is looked at */
	size_t fill;
	char line[TMIGR_METRICS_LINE + 1];
};

struct tmigr_metrics *tmigr_metrics_new(void)
{
	return calloc(1, sizeof(struct tmigr_metrics));
}

static void finds_free(struct finds *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->values[i].name);
		free(f->values[i].unit);
	}
	free(f->values);
	memset(f, 0, sizeof(*f));
}

static void spec_free(struct spec *s)
{
	finds_free(&s->finds);
	if (s->compiled)
		regfree(&s->regex);
	free(s->name);
	free(s->unit);
}

void tmigr_metrics_free(struct tmigr_metrics *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++)
		spec_free(&m->specs[i]);
	free(m->specs);
	free(m);
}

void tmigr_metrics_reset(struct tmigr_metrics *m)
{
	for (size_t i = 0; i < m->n; i++)
		finds_free(&m->specs[i].finds);
	m->cut = false;
}

/* ---- specs ---- */

/* Could it be a unit: "MB/s", "%", "us/op", "J^2"? */
static bool like_unit(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("%/_^.-", *text) &&
		    (unsigned char)*text < 0x80)
			return false;
	return true;
}

/* Cuts ":higher" or ":lower", and a unit, off the end of @regex. */
static const char *split(char *regex, enum better *ret_better)
{
	char *colon = strrchr(regex, ':');

	if (colon && (!strcmp(colon, ":higher") || !strcmp(colon, ":lower"))) {
		*ret_better = colon[1] == 'h' ? BETTER_HIGHER : BETTER_LOWER;
		*colon = '\0';
		colon = strrchr(regex, ':');
	}
	if (!colon || !like_unit(colon + 1) || !memchr(regex, '(', (size_t)(colon - regex)))
		return "";
	*colon = '\0';
	return colon + 1;
}

static int bad_regex(const struct spec *s, int code, struct tmigr_err *err)
{
	char why[128];

	regerror(code, &s->regex, why, sizeof(why));
	return tmigr_fail(err, -EINVAL, "the regex of '%s' is malformed: %s", s->name, why);
}

static int parse_regex(struct spec *s, char *text, struct tmigr_err *err)
{
	const char *unit = split(text, &s->better);
	int code;

	s->unit = strdup(unit);
	if (!s->unit)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	code = regcomp(&s->regex, text, REG_EXTENDED);
	if (code)
		return bad_regex(s, code, err);
	s->compiled = true;
	if (!s->regex.re_nsub)
		return tmigr_fail(err, -EINVAL,
				  "the regex of '%s' has no group ( ) that takes the value",
				  s->name);
	return 0;
}

/* A name stands in CSV files, tables and in --fail-if metric.NAME. */
static bool good_name(const char *name)
{
	size_t len = strlen(name);

	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_./%+-", *p))
			return false;
	return len && len <= NAME_MAX_LEN;
}

static int parse_named(struct spec *s, const char *text, struct tmigr_err *err)
{
	size_t len = strcspn(text, "=");
	char *regex;
	int ret;

	s->name = strndup(text, len);
	regex = strdup(text + len + 1);
	if (!s->name || !regex)
		ret = tmigr_fail(err, -ENOMEM, "out of memory");
	else if (!good_name(s->name))
		ret = tmigr_fail(
			err, -EINVAL,
			"'%.100s' is no name for a metric (letters, digits and _./%%+-, at "
			"most %d)",
			s->name, NAME_MAX_LEN);
	else
		ret = parse_regex(s, regex, err);
	free(regex);
	return ret;
}

static int parse_known(struct spec *s, const char *text, struct tmigr_err *err)
{
	for (size_t i = 0; i < tmigr_metrics_n_benchmarks; i++)
		if (!strcmp(tmigr_metrics_benchmarks[i].name, text))
			s->known = &tmigr_metrics_benchmarks[i];
	if (!s->known)
		return tmigr_fail(err, -EINVAL,
				  "'%.100s' is no benchmark that is known, and not of the form "
				  "NAME=REGEX[:UNIT][:higher|lower]",
				  text);
	s->name = strdup(text);
	return s->name ? 0 : tmigr_fail(err, -ENOMEM, "out of memory");
}

int tmigr_metrics_add(struct tmigr_metrics *m, const char *text, struct tmigr_err *err)
{
	struct spec s = {0}, *specs;
	int ret = strchr(text, '=') ? parse_named(&s, text, err) : parse_known(&s, text, err);

	for (size_t i = 0; i < m->n && !ret; i++)
		if (!strcmp(m->specs[i].name, s.name))
			ret = tmigr_fail(err, -EINVAL, "'%s' is given twice", s.name);
	specs = ret ? NULL : reallocarray(m->specs, m->n + 1, sizeof(*specs));
	if (!specs) {
		spec_free(&s);
		return ret ? ret : tmigr_fail(err, -ENOMEM, "out of memory");
	}
	m->specs = specs;
	specs[m->n++] = s;
	return 0;
}

/* ---- numbers ---- */

/* "1,234,567" without its commas; false: they are not between thousands. */
static bool without_commas(const char *text, size_t len, char *buf, size_t size)
{
	size_t group = 0, out = 0;
	bool commas = false, fraction = false;

	if (len >= size)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == ',') {
			if (fraction || (commas ? group != 3 : group < 1 || group > 3))
				return false;
			commas = true;
			group = 0;
			continue;
		}
		if (commas && !fraction && !isdigit((unsigned char)text[i]) && group != 3)
			return false;
		fraction |= text[i] == '.';
		group += isdigit((unsigned char)text[i]) && !fraction;
		buf[out++] = text[i];
	}
	buf[out] = '\0';
	return !commas || fraction || group == 3;
}

bool tmigr_metrics_number(const char *text, const char **ret_end, double *ret)
{
	const char *p = text + strspn(text, " \t"), *start = p;
	char buf[64], *end;

	p += *p == '-' || *p == '+';
	if (!isdigit((unsigned char)*p) && !(*p == '.' && isdigit((unsigned char)p[1])))
		return false;
	p += strspn(p, "0123456789,.");
	while (p > start && strchr(",.", p[-1]))
		p--;
	if ((*p == 'e' || *p == 'E') &&
	    (isdigit((unsigned char)p[1]) || (strchr("+-", p[1]) && isdigit((unsigned char)p[2]))))
		p += 2 + strspn(p + 2, "0123456789");
	if (!without_commas(start, (size_t)(p - start), buf, sizeof(buf)))
		return false;
	*ret = strtod(buf, &end);
	if (*end || !isfinite(*ret))
		return false;
	if (ret_end)
		*ret_end = p;
	return true;
}

/* ---- finds ---- */

static struct value *find_value(const struct finds *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->values[i].name, name))
			return &f->values[i];
	return NULL;
}

const struct value *tmigr_metrics_get(const struct finds *f, const char *name)
{
	return find_value(f, name);
}

static struct value *new_value(struct finds *f, const char *name, const char *unit)
{
	struct value *values;
	struct value v;

	/* Whoever prints more has gone mad, and memory is bounded. */
	if (f->n >= VALUES_MAX) {
		f->full = true;
		return NULL;
	}
	values = reallocarray(f->values, f->n + 1, sizeof(*values));
	v = (struct value){.name = strdup(name), .unit = strdup(unit)};

	if (values)
		f->values = values;
	if (!values || !v.name || !v.unit) {
		free(v.name);
		free(v.unit);
		f->failed = true;
		return NULL;
	}
	values[f->n] = v;
	return &values[f->n++];
}

struct value *tmigr_metrics_put(struct finds *f, const char *name, double value, const char *unit,
				enum better better)
{
	struct value *v = find_value(f, name);

	if (!v)
		v = new_value(f, name, unit);
	if (!v)
		return NULL;
	v->value = value;
	v->better = better;
	v->times += v->times < 1000000000;
	return v;
}

void tmigr_metrics_put_last(struct finds *f, const char *name, double value, const char *unit,
			    enum better better)
{
	struct value *v = tmigr_metrics_put(f, name, value, unit, better);

	if (v)
		v->again_is_fine = true;
}

/* ---- lines ---- */

static void match(struct spec *s, const char *line)
{
	const char *end;
	regmatch_t group[2];
	char text[64];
	double value;
	int len;

	if (regexec(&s->regex, line, 2, group, 0) || group[1].rm_so < 0)
		return;
	len = (int)(group[1].rm_eo - group[1].rm_so);
	snprintf(text, sizeof(text), "%.*s", len, line + group[1].rm_so);
	if (len < (int)sizeof(text) && tmigr_metrics_number(text, &end, &value) &&
	    !end[strspn(end, " \t")]) {
		tmigr_metrics_put(&s->finds, s->name, value, s->unit, s->better);
	} else {
		s->finds.has_junk = true;
		memcpy(s->finds.junk, text, sizeof(text));
	}
}

static void end_line(struct tmigr_metrics *m)
{
	if (!m->fill)
		return;
	m->line[m->fill] = '\0';
	m->fill = 0;
	for (size_t i = 0; i < m->n; i++) {
		struct spec *s = &m->specs[i];

		if (s->known)
			s->known->line(&s->finds, s->state, m->line);
		else
			match(s, m->line);
	}
}

static void take(struct tmigr_metrics *m, const char *buf, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (buf[i] == '\n' || buf[i] == '\r')
			end_line(m);
		else if (m->fill < TMIGR_METRICS_LINE)
			m->line[m->fill++] = buf[i] ? buf[i] : ' ';
		else
			m->cut = true;
	}
}

int tmigr_metrics_read(struct tmigr_metrics *m, int fd)
{
	char buf[16384];
	ssize_t n;

	m->fill = 0;
	for (size_t i = 0; i < m->n; i++)
		memset(m->specs[i].state, 0, sizeof(m->specs[i].state));
	for (;;) {
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		take(m, buf, (size_t)n);
	}
	end_line(m);
	for (size_t i = 0; i < m->n; i++)
		if (m->specs[i].finds.failed)
			return -ENOMEM;
	return 0;
}

/* ---- result ---- */

static int add_value(json_t *metrics, const struct value *v)
{
	static const char *const words[] = {NULL, "higher", "lower"};

	return json_array_append_new(metrics,
				     json_pack("{so sf so ss?}", "name", tmigr_json_text(v->name),
					       "value", v->value, "unit", tmigr_json_text(v->unit),
					       "better", words[v->better]))
		       ? -ENOMEM
		       : 0;
}

__attribute__((format(printf, 2, 3))) static int note(json_t *notes, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (ret < 0)
		return -ENOMEM;
	ret = json_array_append_new(notes, tmigr_json_text(text)) ? -ENOMEM : 0;
	free(text);
	return ret;
}

static int note_none(const struct tmigr_metrics *m, const struct spec *s, json_t *notes)
{
	const char *cut =
		m->cut ? " (of lines longer than 16 KiB only their beginning was read)" : "";

	if (s->finds.has_junk)
		return note(notes, "metric %s: no value: what it matched is no number: '%s'",
			    s->name, s->finds.junk);
	if (s->known)
		return note(notes, "metric %s: no value: the command printed no %s%s", s->name,
			    s->known->wanted, cut);
	return note(notes, "metric %s: no value: nothing that the command printed matches%s",
		    s->name, cut);
}

static bool has_metric(const json_t *metrics, const char *name)
{
	const json_t *m;
	size_t i;

	json_array_foreach (metrics, i, m)
		if (!strcmp(json_string_value(json_object_get(m, "name")), name))
			return true;
	return false;
}

static int add_spec(const struct tmigr_metrics *m, struct spec *s, json_t *metrics, json_t *notes)
{
	int ret = 0;

	if (s->known && s->known->end)
		s->known->end(&s->finds);
	if (!s->finds.n)
		return note_none(m, s, notes);
	if (s->finds.full)
		ret = note(notes, "metric %s: more than %d values, the rest is left out", s->name,
			   VALUES_MAX);
	for (size_t i = 0; i < s->finds.n && !ret; i++) {
		const struct value *v = &s->finds.values[i];

		if (has_metric(metrics, v->name)) {
			ret = note(notes, "metric %s: the name is taken by another --metric",
				   v->name);
			continue;
		}
		ret = add_value(metrics, v);
		if (!ret && v->times > 1 && !v->again_is_fine)
			ret = note(notes, "metric %s: found %u times, the last one was taken",
				   v->name, v->times);
	}
	return ret;
}

int tmigr_metrics_result(struct tmigr_metrics *m, json_t **ret_metrics, json_t **ret_notes)
{
	json_t *metrics = json_array(), *notes = json_array();
	int ret = metrics && notes ? 0 : -ENOMEM;

	for (size_t i = 0; i < m->n && !ret; i++)
		ret = add_spec(m, &m->specs[i], metrics, notes);
	if (ret) {
		json_decref(metrics);
		json_decref(notes);
		return ret;
	}
	*ret_metrics = metrics;
	*ret_notes = notes;
	return 0;
}
