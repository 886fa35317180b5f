// SPDX-License-Identifier: GPL-2.0-only
/*
 * dpa_sock: one socket, driven by steps.
 *
 *	dpa_sock 'connect 10.9.0.1 5000' 'chunk len=1000 ms=50' 'send 1000'
 *
 * Each argument is a step; "STEP => ENAME" expects that error, "STEP => any"
 * takes what comes, and tells it. What there is to report comes as one JSON
 * object a line.
 * Ends with status 1 at the first step that does something else than expected.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dpa_sock.h"

#define STEP_LENGTH_MAX	1024
#define NSEC_PER_SEC	1000000000ULL

union address {
	struct sockaddr		any;
	struct sockaddr_in	v4;
	struct sockaddr_in6	v6;
};

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

void nap_ms(uint64_t ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * NSEC_PER_MSEC };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* One line, at once: tests read it while the process runs. */
void say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
	fflush(stdout);
}

uint64_t number(const char *text)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = text ? strtoull(text, &end, 0) : 0;
	if (!text || errno || end == text || *end) {
		fprintf(stderr, "dpa_sock: not a number: %s\n",
			text ? text : "(nothing)");
		exit(2);
	}
	return n;
}

const char *option_of(const struct step *step, const char *key)
{
	size_t length = strlen(key);
	int i;

	for (i = 1; i < step->count; i++)
		if (!strncmp(step->word[i], key, length) &&
		    step->word[i][length] == '=')
			return step->word[i] + length + 1;
	return NULL;
}

uint64_t number_of(const struct step *step, const char *key, uint64_t otherwise)
{
	const char *text = option_of(step, key);

	return text ? number(text) : otherwise;
}

static socklen_t parse_address(const struct step *step, union address *to)
{
	const char *text = step->count > 1 ? step->word[1] : "";
	uint16_t port = step->count > 2 ? number(step->word[2]) : 0;

	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET6, text, &to->v6.sin6_addr) == 1) {
		to->v6.sin6_family = AF_INET6;
		to->v6.sin6_port = htons(port);
		return sizeof(to->v6);
	}
	if (inet_pton(AF_INET, text, &to->v4.sin_addr) != 1) {
		fprintf(stderr, "dpa_sock: not an address: %s\n", text);
		exit(2);
	}
	to->v4.sin_family = AF_INET;
	to->v4.sin_port = htons(port);
	return sizeof(to->v4);
}

static int open_socket(struct state *s, int family, int type, int protocol)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = socket(family, type, protocol);
	s->sent = 0;
	s->received = 0;
	return s->fd < 0 ? -errno : 0;
}

/* socket 4|6 mptcp|tcp|raw: a raw one says that it is MPTCP's, too */
static int verb_socket(struct state *s, const struct step *step)
{
	bool six = step->count > 1 && !strcmp(step->word[1], "6");
	const char *kind = step->count > 2 ? step->word[2] : "mptcp";

	return open_socket(s, six ? AF_INET6 : AF_INET,
			   strcmp(kind, "raw") ? SOCK_STREAM : SOCK_RAW,
			   strcmp(kind, "tcp") ? IPPROTO_MPTCP : IPPROTO_TCP);
}

/* connect ADDRESS PORT: by an MPTCP socket unless there is one already */
static int verb_connect(struct state *s, const struct step *step)
{
	union address to;
	socklen_t size = parse_address(step, &to);
	int err = 0;

	if (s->fd < 0)
		err = open_socket(s, to.any.sa_family, SOCK_STREAM,
				  IPPROTO_MPTCP);
	if (err)
		return err;
	return connect(s->fd, &to.any, size) ? -errno : 0;
}

/* lazy: connect() leaves the SYN to what is sent first, which goes with it */
static int verb_lazy(struct state *s, const struct step *step)
{
	int on = 1;

	(void)step;
	return setsockopt(s->fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)) ?
	       -errno : 0;
}

/* unspec: ends the connection, the socket can connect again */
static int verb_unspec(struct state *s, const struct step *step)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	s->sent = 0;
	s->received = 0;
	return connect(s->fd, &none, sizeof(none)) ? -errno : 0;
}

/* bind ADDRESS [PORT] */
static int verb_bind(struct state *s, const struct step *step)
{
	union address at;
	socklen_t size = parse_address(step, &at);
	int err = 0, on = 1;

	if (s->fd < 0)
		err = open_socket(s, at.any.sa_family, SOCK_STREAM,
				  IPPROTO_MPTCP);
	if (err)
		return err;
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return bind(s->fd, &at.any, size) ? -errno : 0;
}

/* listen ADDRESS PORT */
static int verb_listen(struct state *s, const struct step *step)
{
	int err = verb_bind(s, step);

	if (err)
		return err;
	s->listener = s->fd;
	return listen(s->fd, 16) ? -errno : 0;
}

/* accept: from now on the steps are about the accepted socket */
static int verb_accept(struct state *s, const struct step *step)
{
	if (s->fd >= 0 && s->fd != s->listener)
		close(s->fd);
	s->fd = accept(s->listener, NULL, NULL);
	s->sent = 0;
	s->received = 0;
	return s->fd < 0 ? -errno : 0;
}

/* buffers send|receive N: beyond net.core's limits as well, which differ by kernel */
static int verb_buffers(struct state *s, const struct step *step)
{
	int size = number(step->word[2]);
	int which = !strcmp(step->word[1], "send") ? SO_SNDBUFFORCE :
						     SO_RCVBUFFORCE;

	return setsockopt(s->fd, SOL_SOCKET, which, &size, sizeof(size)) ?
	       -errno : 0;
}

static int verb_shutdown(struct state *s, const struct step *step)
{
	return shutdown(s->fd, SHUT_WR) ? -errno : 0;
}

static int verb_close(struct state *s, const struct step *step)
{
	int fd = s->fd;

	s->fd = -1;
	return close(fd) ? -errno : 0;
}

/* abort: closes with a reset */
static int verb_abort(struct state *s, const struct step *step)
{
	struct linger linger = { .l_onoff = 1 };

	setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	return verb_close(s, step);
}

/* patience MS: to wait for bytes no longer; EAGAIN then */
static int verb_patience(struct state *s, const struct step *step)
{
	uint64_t ms = number(step->word[1]);
	struct timeval t = { ms / 1000, ms % 1000 * 1000 };

	return setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) ?
	       -errno : 0;
}

/* await FIFO: until somebody has opened it for writing, and closed it */
static int verb_await(struct state *s, const struct step *step)
{
	char byte;
	int fd = open(step->word[1], O_RDONLY);

	(void)s;
	if (fd < 0)
		return -errno;
	while (read(fd, &byte, 1) > 0)
		;
	close(fd);
	return 0;
}

/* sleep MS, for what the peer or time itself has to do */
static int verb_sleep(struct state *s, const struct step *step)
{
	nap_ms(number(step->word[1]));
	return 0;
}

/* until MS: since the start of the process */
static int verb_until(struct state *s, const struct step *step)
{
	uint64_t at_ms = number(step->word[1]);
	uint64_t is_ms = (now_ns() - s->begun_ns) / NSEC_PER_MSEC;

	if (at_ms > is_ms)
		nap_ms(at_ms - is_ms);
	return 0;
}

/* say WORD: a sign for the test that waits for it */
static int verb_say(struct state *s, const struct step *step)
{
	say("{\"step\":\"say\",\"word\":\"%s\",\"at_ns\":%llu}", step->word[1],
	    (unsigned long long)now_ns());
	return 0;
}

/*
 * fail N: the Nth allocation of this process from now on fails, 0: none does. For
 * kernels with fault injection.
 */
static int verb_fail(struct state *s, const struct step *step)
{
	int fd = open("/proc/thread-self/fail-nth", O_WRONLY);
	size_t length = strlen(step->word[1]);
	int err;

	(void)s;
	if (fd < 0)
		return -errno;
	err = write(fd, step->word[1], length) == (ssize_t)length ? 0 : -errno;
	close(fd);
	return err;
}

static int send_fd(int to, int fd)
{
	union {
		struct cmsghdr	head;
		char		room[CMSG_SPACE(sizeof(int))];
	} control = {};
	struct iovec data = { "x", 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(to, &message, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int from)
{
	union {
		struct cmsghdr	head;
		char		room[CMSG_SPACE(sizeof(int))];
	} control = {};
	char byte;
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(from, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
		return -EBADF;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* Is this the child? Then it has the socket, by a message alone. */
static int fork_and_pass(struct state *s, int *pid)
{
	int pair[2], err = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return -errno;
	*pid = fork();
	if (!*pid) {
		close(s->fd);
		s->fd = receive_fd(pair[1]);
		s->in_child = true;
		return s->fd < 0 ? s->fd : 0;
	}
	err = *pid < 0 ? -errno : send_fd(pair[0], s->fd);
	close(pair[0]);
	close(pair[1]);
	return err;
}

static int wait_for_child(int pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}

/* fork: a child takes the steps up to "join"; pass: it is handed the socket */
static int verb_fork(struct state *s, const struct step *step)
{
	int pid = -1, err = 0;

	if (!strcmp(step->word[0], "pass")) {
		err = fork_and_pass(s, &pid);
	} else {
		pid = fork();
		s->in_child = !pid;
		if (pid < 0)
			err = -errno;
	}
	if (err || s->in_child)
		return err;
	return wait_for_child(pid);
}

static int verb_join(struct state *s, const struct step *step)
{
	if (s->in_child)
		exit(0);
	return 0;
}

static const struct {
	const char	*name;
	int		(*run)(struct state *s, const struct step *step);
} verbs[] = {
	{ "socket", verb_socket },	{ "connect", verb_connect },
	{ "unspec", verb_unspec },	{ "lazy", verb_lazy },
	{ "bind", verb_bind },
	{ "listen", verb_listen },	{ "accept", verb_accept },
	{ "buffers", verb_buffers },	{ "shutdown", verb_shutdown },
	{ "close", verb_close },	{ "abort", verb_abort },
	{ "await", verb_await },	{ "patience", verb_patience },
	{ "sleep", verb_sleep },	{ "until", verb_until },
	{ "say", verb_say },		{ "fork", verb_fork },
	{ "pass", verb_fork },		{ "join", verb_join },
	{ "chunk", verb_chunk },	{ "info", verb_info },
	{ "mark", verb_mark },		{ "same", verb_same },
	{ "wait", verb_wait },		{ "subflows", verb_subflows },
	{ "send", verb_send },		{ "drain", verb_drain },
	{ "recv", verb_recv },		{ "option", verb_option },
	{ "stream", verb_stream },	{ "prefer", verb_prefer },
	{ "eventfd", verb_eventfd },	{ "hammer", verb_hammer },
	{ "fail", verb_fail },
};

static int error_number(const char *name)
{
	int err;

	if (!strcmp(name, "any"))
		return -1;
	for (err = 1; err < 200; err++) {
		const char *known = strerrorname_np(err);

		if (known && !strcmp(known, name))
			return err;
	}
	fprintf(stderr, "dpa_sock: no such error: %s\n", name);
	exit(2);
}

static void parse_step(char *text, struct step *step)
{
	char *arrow = strstr(text, " => ");
	char *word;

	memset(step, 0, sizeof(*step));
	step->word[0] = "";
	if (arrow) {
		step->expected = error_number(arrow + 4);
		*arrow = 0;
	}
	for (word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		if (step->count == WORDS_MAX) {
			fprintf(stderr, "dpa_sock: too many words\n");
			exit(2);
		}
		step->word[step->count++] = word;
	}
}

static int run_step(struct state *s, const struct step *step)
{
	size_t i;

	for (i = 0; step->count && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i].name, step->word[0]))
			return verbs[i].run(s, step);
	fprintf(stderr, "dpa_sock: no such step: %s\n",
		step->count ? step->word[0] : "");
	exit(2);
}

static const char *name_of(int err)
{
	return err ? strerrorname_np(err) : "success";
}

int main(int argc, char **argv)
{
	struct state s = { .fd = -1, .listener = -1, .begun_ns = now_ns() };
	char text[STEP_LENGTH_MAX];
	struct step step;
	int i, err;

	for (i = 1; i < argc; i++) {
		/* the words of a step are used until its end, no longer */
		snprintf(text, sizeof(text), "%s", argv[i]);
		parse_step(text, &step);
		err = -run_step(&s, &step);
		if (step.expected >= 0 && err != step.expected) {
			say("# %s: %s, expected %s", argv[i], name_of(err),
			    name_of(step.expected));
			return 1;
		}
		if (step.expected < 0 && err)
			say("{\"error\":\"%s\",\"step\":\"%s\"}", name_of(err),
			    step.word[0]);
		/* a child's part is over when the parent comes back */
		if (!s.in_child && (!strcmp(step.word[0], "fork") ||
				    !strcmp(step.word[0], "pass")))
			while (i + 1 < argc && strcmp(argv[i + 1], "join"))
				i++;
	}
	return 0;
}
