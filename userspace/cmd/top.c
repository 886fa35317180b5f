// SPDX-License-Identifier: GPL-2.0
/* mpdpa top: the connections on a screen of their own. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "connshow.h"
#include "module.h"
#include "screen.h"

#define DELAY_MIN_MS	100
#define DELAY_MAX_MS	3600000
#define DELAY_MS	1000

/* The other screen, without a cursor and without wrapping; and back. */
#define SCREEN_ENTER	"\033[?1049h\033[?25l\033[?7l"
#define SCREEN_LEAVE	"\033[?7h\033[?25h\033[?1049l"
#define SCREEN_HOME	"\033[H"

struct top {
	const struct options *options;
	struct mpdpa_ctl *ctl;
	struct look looks[2];
	struct look sorted;
	unsigned int current;	/* of looks */
	int delay_ms;
	sigset_t unblocked;	/* while it waits for a key */
	struct termios before, raw;
};

static volatile sig_atomic_t stopped, suspended, continued;

/* A terminal of another size just ends the wait. */
static void on_signal(int number)
{
	if (number == SIGTSTP)
		suspended = 1;
	else if (number == SIGCONT)
		continued = 1;
	else if (number != SIGWINCH)
		stopped = 1;
}

static const struct sigaction catch = { .sa_handler = on_signal };

/* Signals come only while it waits, so none is missed. */
static void catch_signals(sigset_t *unblocked)
{
	static const int numbers[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT,
	};
	struct sigaction before;
	sigset_t blocked;
	size_t i;

	sigemptyset(&blocked);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaction(numbers[i], &catch, &before);
		/* started where there is no going on after ^Z */
		if (numbers[i] == SIGTSTP && before.sa_handler == SIG_IGN)
			sigaction(SIGTSTP, &before, NULL);
		sigaddset(&blocked, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, unblocked);
}

static void enter_screen(const struct top *top)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &top->raw);
	fputs(SCREEN_ENTER, stdout);
	fflush(stdout);
}

static void leave_screen(const struct top *top)
{
	fputs(SCREEN_LEAVE, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &top->before);
}

/* Stops as it would have by itself, but with the terminal in order. */
static void suspend(const struct top *top)
{
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	const struct timespec now = { 0 };
	sigset_t stop, go_on;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigemptyset(&go_on);
	sigaddset(&go_on, SIGCONT);
	leave_screen(top);
	sigaction(SIGTSTP, &by_default, NULL);
	raise(SIGTSTP);
	/* it stops here */
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	sigaction(SIGTSTP, &catch, NULL);
	sigtimedwait(&go_on, NULL, &now);
	enter_screen(top);
}

/* Somebody else may have stopped it, too, and used the terminal meanwhile. */
static void follow_job_control(const struct top *top)
{
	if (suspended)
		suspend(top);
	else if (continued)
		enter_screen(top);
	suspended = 0;
	continued = 0;
}

static bool parse_delay(const char *word, int *ms)
{
	char *end;
	double seconds;

	if (!word)
		return true;
	seconds = strtod(word, &end);
	/* also refuses what is no number at all */
	if (end == word || *end || !(seconds * 1000 >= DELAY_MIN_MS) ||
	    !(seconds * 1000 <= DELAY_MAX_MS))
		return false;
	*ms = seconds * 1000;
	return true;
}

static const char *clock_text(char text[16])
{
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	strftime(text, 16, "%H:%M:%S", &local);
	return text;
}

/* Looks again. Both looks stay in the order of the numbers, for the next time. */
static int look(struct top *top)
{
	struct look *earlier = &top->looks[top->current];
	struct look *later = &top->looks[!top->current];
	int err = look_take(later, top->ctl);

	if (err)
		return err;
	look_compare(later, earlier);
	top->current = !top->current;
	return 0;
}

static int draw(struct top *top, struct screen *screen)
{
	const struct look *later = &top->looks[top->current];
	struct rated *at = reallocarray(top->sorted.at, later->count + 1, sizeof(*at));
	char clock[16];

	if (!at)
		return -ENOMEM;
	top->sorted = *later;
	top->sorted.at = at;
	if (later->count)
		memcpy(at, later->at, later->count * sizeof(*at));
	look_sort(&top->sorted);
	screen->clock = clock_text(clock);
	screen->where = top->options->netns;
	screen_draw(stdout, screen, &top->sorted, &top->looks[!top->current]);
	screen->clock = NULL;
	return 0;
}

static void measure(struct screen *screen)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return;
	if (size.ws_col)
		screen->width = size.ws_col;
	if (size.ws_row >= SCREEN_HEIGHT_MIN)
		screen->height = size.ws_row;
}

/* Waits for the next look; false: it is time to go. */
static bool wait_for_key(const struct top *top)
{
	struct timespec delay = {
		.tv_sec = top->delay_ms / 1000,
		.tv_nsec = top->delay_ms % 1000 * 1000000L,
	};
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	if (ppoll(&keys, 1, &delay, &top->unblocked) > 0 &&
	    (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q'))
		return false;
	return !stopped;
}

static int run_screen(struct top *top)
{
	struct screen screen = { .width = SCREEN_WIDTH_MIN, .height = 24, .ansi = true };
	int err;

	do {
		follow_job_control(top);
		measure(&screen);
		err = look(top);
		if (!err) {
			fputs(SCREEN_HOME, stdout);
			err = draw(top, &screen);
		}
		fflush(stdout);
	} while (!err && !ferror(stdout) && wait_for_key(top));
	return err;
}

/* Two looks, since one alone knows no rates. */
static int run_once(struct top *top)
{
	struct screen screen = { .width = SCREEN_WIDTH_MIN };
	struct timespec delay = {
		.tv_sec = top->delay_ms / 1000,
		.tv_nsec = top->delay_ms % 1000 * 1000000L,
	};
	int err = look(top);

	if (err)
		return err;
	nanosleep(&delay, NULL);
	err = look(top);
	return err ?: draw(top, &screen);
}

static int run_live(struct top *top)
{
	int err;

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &top->before))
		return misused("top: not on a terminal; \"top -1\" prints once");
	catch_signals(&top->unblocked);
	top->raw = top->before;
	top->raw.c_lflag &= ~(ICANON | ECHO);
	enter_screen(top);
	err = run_screen(top);
	leave_screen(top);
	return err ? module_refused(top->ctl, "top", err) : MPDPA_EXIT_OK;
}

static int top_run(const struct options *options, struct args *args)
{
	struct top top = { .options = options, .delay_ms = DELAY_MS };
	int err;

	if (!args_end(args))
		return misused("top: %s", args->error);
	if (!parse_delay(options->delay, &top.delay_ms))
		return misused("top: \"%s\" is no delay in seconds, 0.1 to 3600", options->delay);
	err = module_connect("top", &top.ctl);
	if (err)
		return err;
	if (options->once) {
		err = run_once(&top);
		if (err)
			err = module_refused(top.ctl, "top", err);
	} else {
		err = run_live(&top);
	}
	look_free(&top.looks[0]);
	look_free(&top.looks[1]);
	look_free(&top.sorted);
	mpdpa_ctl_close(top.ctl);
	return err;
}

const struct command command_top = {
	.name = "top",
	.summary = "connections and chunks, live on the screen",
	.takes = TAKES_NETNS | TAKES_SCREEN,
	.run = top_run,
	.help =
	"Usage: mpdpa top [ -d SECONDS ] [ -1 ] [ -n NAME ]\n"
	"\n"
	"Shows the connections of this network namespace that have deadlines, the most\n"
	"urgent first, and looks again every second. For each the chunk in force as a\n"
	"bar, # what the peer has acknowledged, = what was sent, | where the time to the\n"
	"deadline has come to since the chunk was first seen; then the time that is left\n"
	"(with ! if all paths together seem too slow) and what was acknowledged, in bits\n"
	"a second. Below it the subflows: cost, state, estimated and measured goodput.\n"
	"\n"
	"  -d, --delay SECONDS   look again after so long, 0.1 to 3600\n"
	"  -1, --once            print once, after one such time, and leave\n"
	"\n"
	"q leaves, ^Z gives the terminal back until the shell's \"fg\". Without\n"
	"CAP_NET_ADMIN it shows only your own connections.\n",
};
