// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* deadline ADDRESS PORT: sends 10 MB that are due in 10 seconds. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <linux/mptcp_dpa_sock.h>

int main(int argc, char **argv)
{
	static char data[10000000];
	struct mptcp_dpa_chunk chunk = { .length = sizeof(data), .deadline_ns = 10000000000 };
	struct sockaddr_in peer = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);

	if (argc != 3 || inet_pton(AF_INET, argv[1], &peer.sin_addr) != 1)
		return fprintf(stderr, "usage: deadline ADDRESS PORT\n"), 2;
	peer.sin_port = htons(atoi(argv[2]));
	if (fd < 0 || connect(fd, (struct sockaddr *)&peer, sizeof(peer)))
		return perror("connect"), 1;
	if (setsockopt(fd, SOL_MPTCP, MPTCP_DPA_CHUNK, &chunk, sizeof(chunk)))
		perror("no deadline");	/* the bytes go out all the same */
	for (size_t sent = 0; sent < sizeof(data);) {
		ssize_t n = send(fd, data + sent, sizeof(data) - sent, 0);

		if (n < 0)
			return perror("send"), 1;
		sent += n;
	}
	return 0;
}
