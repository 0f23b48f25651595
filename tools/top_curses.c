// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The screen of `tmigr top`.  Signals come through a descriptor, so that the
 * loop ends by them as by a key, and the terminal gets back what it had.
 */
#include "top.h"

#ifdef TMIGR_NCURSES

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <ncurses.h>
#include <term.h>
/* Of term.h's short names for capabilities. */
#undef lines
#undef columns

#include "tmigr.h"

#define KEY_ESCAPE 27

struct ui {
	struct top_screen *s;
	size_t lines, shown; /* of the list in the last frame */
	size_t list_scroll;  /* where the list was when the help came */
	bool paused, quit, colour;
	struct tmigr_err err;
};

/* ---- a crash ---- */

/* What a signal handler needs to leave a usable terminal behind. */
static struct {
	struct termios mode;
	char text[256];
	size_t n;
} rescue;

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

static void on_crash(int sig)
{
	ssize_t n = write(STDOUT_FILENO, rescue.text, rescue.n);

	(void)n;
	tcsetattr(STDIN_FILENO, TCSANOW, &rescue.mode);
	raise(sig); /* SA_RESETHAND: the default action now */
}

static void prepare_rescue(void)
{
	static const char *const names[] = {"sgr0", "cnorm", "rmkx", "rmcup"};
	struct sigaction act = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = tigetstr(names[i]);

		/* NOLINTNEXTLINE(performance-no-int-to-ptr): terminfo's sign for "not a string" */
		if (!text || text == (char *)-1 || rescue.n + strlen(text) >= sizeof(rescue.text))
			continue;
		memcpy(rescue.text + rescue.n, text, strlen(text));
		rescue.n += strlen(text);
	}
	for (i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &act, NULL);
}

static void end_rescue(void)
{
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		signal(crashes[i], SIG_DFL);
}

/* ---- drawing ---- */

/* From hot to cold: running, shallow states, deep ones. */
static void make_colours(struct ui *ui)
{
	static const short colours[TMIGR_TOP_ATTRS] = {
		[TMIGR_TOP_YES] = COLOR_RED,	      [TMIGR_TOP_NO] = COLOR_GREEN,
		[TMIGR_TOP_UNKNOWN] = COLOR_MAGENTA,  [TMIGR_TOP_WARN] = COLOR_RED,
		[TMIGR_TOP_GLOBAL] = COLOR_RED,	      [TMIGR_TOP_MIGRATOR] = COLOR_YELLOW,
		[TMIGR_TOP_RUNNING] = COLOR_RED,      [TMIGR_TOP_STATE0] = COLOR_YELLOW,
		[TMIGR_TOP_STATE0 + 1] = COLOR_CYAN,  [TMIGR_TOP_STATE0 + 2] = COLOR_BLUE,
		[TMIGR_TOP_STATE0 + 3] = COLOR_GREEN,
	};
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && *no_color) || !has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	for (int i = 0; i < TMIGR_TOP_ATTRS; i++)
		if (colours[i])
			init_pair((short)(i + 1), colours[i], -1);
	for (int i = TMIGR_TOP_STATE0 + 4; i <= TMIGR_TOP_STATE9; i++)
		init_pair((short)(i + 1), i % 2 ? COLOR_BLUE : COLOR_GREEN, -1);
	ui->colour = true;
}

static bool has_colour(enum tmigr_top_attr attr)
{
	return attr >= TMIGR_TOP_YES && attr <= TMIGR_TOP_STATE9;
}

static attr_t style(const struct ui *ui, enum tmigr_top_attr attr)
{
	attr_t a = A_NORMAL;

	if (attr == TMIGR_TOP_DIM || attr == TMIGR_TOP_OFFLINE)
		a = A_DIM;
	else if (attr == TMIGR_TOP_BAR)
		a = A_REVERSE;
	else if (attr == TMIGR_TOP_BOLD || attr == TMIGR_TOP_YES || attr == TMIGR_TOP_NO ||
		 attr == TMIGR_TOP_WARN || attr == TMIGR_TOP_GLOBAL)
		a = A_BOLD;
	if (ui->colour && has_colour(attr))
		a |= COLOR_PAIR((int)attr + 1);
	return a;
}

static void draw_row(const struct ui *ui, const struct tmigr_top_row *row, int y)
{
	size_t i;

	wmove(stdscr, y, 0);
	for (i = 0; i < row->n; i++) {
		wattrset(stdscr, (int)style(ui, row->cells[i].attr));
		waddstr(stdscr, row->cells[i].text);
	}
	wattrset(stdscr, A_NORMAL);
}

static int draw(struct ui *ui)
{
	struct tmigr_top_opts *o = &ui->s->view;
	struct tmigr_top_frame *frame;
	size_t i;

	o->height = (size_t)getmaxy(stdscr);
	o->width = (size_t)getmaxx(stdscr);
	if (tmigr_top_frame(ui->s->top, o, &frame) < 0)
		return tmigr_fail(&ui->err, -ENOMEM, "out of memory");
	werase(stdscr);
	for (i = 0; i < frame->n && i < o->height; i++)
		draw_row(ui, &frame->rows[i], (int)i);
	wrefresh(stdscr);
	ui->lines = frame->lines;
	ui->shown = frame->shown;
	o->scroll = frame->first;
	tmigr_top_frame_free(frame);
	return 0;
}

/* ---- keys ---- */

static void scroll_to(struct ui *ui, size_t from, size_t down, size_t up)
{
	/* The frame stops at the list's end. */
	ui->s->view.scroll = from + down > up ? from + down - up : 0;
}

static bool scroll_key(struct ui *ui, int key)
{
	const size_t at = ui->s->view.scroll, page = ui->shown > 1 ? ui->shown - 1 : 1;

	switch (key) {
	case KEY_UP:
	case 'k':
		scroll_to(ui, at, 0, 1);
		return true;
	case KEY_DOWN:
	case 'j':
		scroll_to(ui, at, 1, 0);
		return true;
	case KEY_PPAGE:
		scroll_to(ui, at, 0, page);
		return true;
	case KEY_NPAGE:
		scroll_to(ui, at, page, 0);
		return true;
	case KEY_HOME:
		scroll_to(ui, 0, 0, 0);
		return true;
	case KEY_END:
		scroll_to(ui, ui->lines, 0, 0);
		return true;
	default:
		return false;
	}
}

static void show_help(struct ui *ui, bool on)
{
	struct tmigr_top_opts *o = &ui->s->view;

	if (on == o->help)
		return;
	if (on)
		ui->list_scroll = o->scroll;
	o->scroll = on ? 0 : ui->list_scroll;
	o->help = on;
}

static void pause_key(struct ui *ui)
{
	ui->paused = !ui->paused;
	tmigr_top_hold(ui->s->top, ui->paused);
}

static void on_key(struct ui *ui, int key)
{
	struct tmigr_top_opts *o = &ui->s->view;

	if (scroll_key(ui, key))
		return;
	if (o->help && (key == 'q' || key == KEY_ESCAPE || key == 'h' || key == '?')) {
		show_help(ui, false);
		return;
	}
	switch (key) {
	case 'q':
	case 'Q':
		ui->quit = true;
		break;
	case 'p':
	case ' ':
		pause_key(ui);
		break;
	case 's':
		o->sort = (o->sort + 1) % TMIGR_TOP_SORTS;
		break;
	case 'S':
		o->sort = (o->sort + TMIGR_TOP_SORTS - 1) % TMIGR_TOP_SORTS;
		break;
	case 'g':
		o->group = (o->group + 1) % TMIGR_TOP_GROUPS;
		break;
	case 'h':
	case '?':
		show_help(ui, true);
		break;
	case 'L' - '@': /* Ctrl-L */
		clearok(stdscr, TRUE);
		break;
	default:
		break;
	}
}

static void read_keys(struct ui *ui)
{
	int key;

	while (!ui->quit && (key = wgetch(stdscr)) != ERR)
		on_key(ui, key);
}

/* ---- signals ---- */

static void on_resize(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(stdscr, TRUE);
}

/* Ctrl-Z: the shell gets its terminal, and the program stops as it would have
 * without a handler.  When it goes on, the window may have another size. */
static void on_stop(void)
{
	sigset_t stop;

	endwin();
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	/* cppcheck-suppress unreachableCode; it goes on when it is continued */
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	/* Here it is stopped. */
	sigprocmask(SIG_BLOCK, &stop, NULL);
	on_resize();
}

static void read_signals(struct ui *ui, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGWINCH)
			on_resize();
		else if (info.ssi_signo == SIGTSTP)
			on_stop();
		else
			ui->quit = true;
	}
}

static int take_signals(sigset_t *ret_before)
{
	static const int list[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		sigaddset(&set, list[i]);
	sigprocmask(SIG_BLOCK, &set, ret_before);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* ---- the loop ---- */

static int read_samples(struct ui *ui)
{
	struct top_sample sample = {0};
	int r;

	while ((r = top_source_next(ui->s->source, &sample, &ui->err)) > 0) {
		r = tmigr_top_add(ui->s->top, sample.report, sample.tree, &ui->err);
		json_decref(sample.report);
		json_decref(sample.tree);
		sample = (struct top_sample){0};
		if (r)
			break;
	}
	return r;
}

static int loop(struct ui *ui, int signals)
{
	struct pollfd fds[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = signals, .events = POLLIN},
		{.fd = top_source_fd(ui->s->source), .events = POLLIN},
	};
	int r;

	while (!ui->quit) {
		r = draw(ui);
		if (r)
			return r;
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return tmigr_fail(&ui->err, -errno, "cannot wait: %s", strerror(errno));
		if (fds[1].revents)
			read_signals(ui, signals);
		if (fds[0].revents & POLLIN)
			read_keys(ui);
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			ui->quit = true; /* the terminal is gone */
		if (!ui->quit && fds[2].revents) {
			r = read_samples(ui);
			if (r)
				return r;
		}
	}
	return 0;
}

static const char *terminal_name(void)
{
	const char *name = getenv("TERM");

	return name && *name ? name : "";
}

static int with_screen(struct ui *ui, int signals)
{
	SCREEN *screen = NULL;
	int r, why;

	tcgetattr(STDIN_FILENO, &rescue.mode);
	/* Asked first: newterm() does not give all back where it fails. */
	if (setupterm(NULL, STDOUT_FILENO, &why) == OK) {
		del_curterm(cur_term);
		screen = newterm(NULL, stdout, stdin);
	}
	if (!screen)
		return tmigr_fail(&ui->err, -ENOTTY, "cannot use a terminal of type '%s' (TERM)",
				  terminal_name());
	if (!cursor_address) {
		endwin();
		delscreen(screen);
		return tmigr_fail(&ui->err, -ENOTTY,
				  "a terminal of type '%s' (TERM) cannot move its cursor",
				  terminal_name());
	}
	prepare_rescue();
	cbreak();
	noecho();
	set_escdelay(25);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	make_colours(ui);
	r = loop(ui, signals);
	endwin();
	end_rescue();
	delscreen(screen);
	return r;
}

int top_screen_run(struct top_screen *s)
{
	struct ui ui = {.s = s};
	sigset_t before;
	int signals, r;

	signals = take_signals(&before);
	if (signals < 0)
		return tool_error("top", "cannot take signals: %s", strerror(errno));
	r = with_screen(&ui, signals);
	close(signals);
	if (r)
		return tool_error("top", "%s", ui.err.text);
	return TMIGR_EXIT_OK;
}

const char *top_screen_version(void)
{
	return NCURSES_VERSION;
}

#endif
