// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads BPF objects and prints what the kernel's verifier says of each program,
 * as CSV.
 *
 * veristat of Linux 7.2 cannot load programs that call a module's functions: its
 * libbpf clones them with an array of descriptors that has a hole, which the
 * kernel refuses.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#define LOG_BYTES	(1 << 20)
#define STATISTICS	4	/* a level of the log */

/* The line of figures at the end of a program's log; 0 if it is there. */
static int print_figures(const char *file, const struct bpf_program *program,
			 const char *log)
{
	unsigned int insns, states, peak;
	const char *line = strstr(log, "\nprocessed ");

	if (!line ||
	    sscanf(line, "\nprocessed %u insns (limit %*u) max_states_per_insn %*u total_states %u peak_states %u",
		   &insns, &states, &peak) != 3)
		return -1;
	printf("%s,%s,%u,%u,%u\n", file, bpf_program__name(program), insns,
	       states, peak);
	return 0;
}

static int load(const char *file)
{
	struct bpf_object *object = bpf_object__open(file);
	struct bpf_program *program;
	size_t size;
	char *log;
	int err;

	if (!object)
		return -errno;
	bpf_object__for_each_program(program, object) {
		log = calloc(1, LOG_BYTES);
		if (!log)
			return -ENOMEM;
		bpf_program__set_log_buf(program, log, LOG_BYTES);
		bpf_program__set_log_level(program, STATISTICS);
	}
	err = bpf_object__load(object);
	bpf_object__for_each_program(program, object) {
		log = (char *)bpf_program__log_buf(program, &size);
		if (print_figures(file, program, log)) {
			fprintf(stderr, "%s\n", log);
			err = err ?: -EINVAL;
		}
		free(log);
	}
	bpf_object__close(object);
	return err;
}

int main(int argc, char **argv)
{
	int i;

	puts("file,program,insns,states,peak_states");
	for (i = 1; i < argc; i++) {
		int err = load(argv[i]);

		if (err) {
			fprintf(stderr, "verifier: %s: %s\n", argv[i],
				strerror(-err));
			return 1;
		}
	}
	return 0;
}
