// SPDX-License-Identifier: BSD-3-Clause
/*
 * A sender of constant rate over UDP: an example of a program of one's own for
 * farpath, which calls it with iperf3's options and reads JSON of iperf3's shape.
 *
 *   steady --server --one-off --port P --interval I --json [--rate-bps R]
 *   steady --client ADDRESS --port P --time T --interval I --json [--rate-bps R]
 *
 * The k-th datagram leaves k times its duration at R bit/s of payload after the
 * first. When T is over the client says FIN until the server answers; both then
 * print one interval of every I seconds with the bytes of it. The server counts
 * from the first datagram on. A parameter of a stack reaches both sides; the
 * server needs no rate.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* A datagram that fills an Ethernet packet of 1500 bytes: 20 IP, 8 UDP */
#define PAYLOAD_BYTES 1472

enum kind { DATA = 'D', FIN = 'F', FIN_ACK = 'A' };

#define FIN_EVERY_S 0.1
#define FINS_AT_MOST 100

#define DEFAULT_RATE_BPS 10e6
#define LARGEST_RATE_BPS 10e9

/* An end shorter than this, with nothing in it, is no interval */
#define SHORTEST_INTERVAL_S 1e-3

struct options {
	const char *client;
	bool server;
	int port;
	double time_s;
	double interval_s;
	double rate_bps;
};

/* The interval that is open; times in s since the first datagram */
struct report {
	double interval_s;
	double start_s;
	unsigned long long bytes;
	unsigned long count;
};

static void fail(const char *what)
{
	fprintf(stderr, "steady: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void sleep_until(double when_s)
{
	struct timespec when;

	when.tv_sec = (time_t)when_s;
	when.tv_nsec = (long)((when_s - when.tv_sec) * 1e9);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
		;
}

static void report_close(struct report *report, double end_s)
{
	printf("%s{\"streams\": [{\"start\": %.9f, \"end\": %.9f, \"bytes\": %llu}]}",
	       report->count++ ? ",\n" : "{\"intervals\": [\n",
	       report->start_s, end_s, report->bytes);
	report->start_s = end_s;
	report->bytes = 0;
}

/* Close every interval that is over at this time */
static void report_until(struct report *report, double t_s)
{
	double end_s;

	while ((end_s = (report->count + 1) * report->interval_s) <= t_s)
		report_close(report, end_s);
}

static void report_end(struct report *report, double end_s)
{
	report_until(report, end_s);
	if (report->bytes || end_s - report->start_s > SHORTEST_INTERVAL_S)
		report_close(report, end_s);
	puts("\n]}");
}

static int udp_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		fail("socket");
	return fd;
}

/* Wait for a datagram at most so long, in s; its kind, or 0 if none came */
static char await_kind(int fd, double limit_s)
{
	struct pollfd waiting = { .fd = fd, .events = POLLIN };
	struct timespec limit = {
		.tv_sec = (time_t)limit_s,
		.tv_nsec = (long)((limit_s - (time_t)limit_s) * 1e9),
	};
	char kind = 0;

	if (ppoll(&waiting, 1, &limit, NULL) > 0 && recv(fd, &kind, 1, 0) < 0)
		kind = errno == ECONNREFUSED ? FIN_ACK : 0;
	return kind;
}

/* A server that is gone has ended, as it was to */
static void finish(int fd, char *datagram)
{
	int tries;

	datagram[0] = FIN;
	for (tries = 0; tries < FINS_AT_MOST; tries++) {
		if (send(fd, datagram, PAYLOAD_BYTES, 0) < 0 && errno == ECONNREFUSED)
			return;
		if (await_kind(fd, FIN_EVERY_S) == FIN_ACK)
			return;
	}
	fprintf(stderr, "steady: the server does not answer\n");
	exit(1);
}

static int run_client(const struct options *options)
{
	struct sockaddr_in server = { .sin_family = AF_INET, .sin_port = htons(options->port) };
	struct report report = { .interval_s = options->interval_s };
	double spacing_s = 8.0 * PAYLOAD_BYTES / options->rate_bps;
	char datagram[PAYLOAD_BYTES] = { DATA };
	unsigned long long sent = 0;
	int fd = udp_socket();
	double start_s;

	if (!inet_aton(options->client, &server.sin_addr)) {
		fprintf(stderr, "steady: '%s' is no IPv4 address\n", options->client);
		return 2;
	}
	if (connect(fd, (struct sockaddr *)&server, sizeof(server)))
		fail("connect");
	start_s = now_s();
	for (sent = 0; sent * spacing_s < options->time_s; sent++) {
		sleep_until(start_s + sent * spacing_s);
		report_until(&report, now_s() - start_s);
		if (send(fd, datagram, sizeof(datagram), 0) < 0)
			fail("send");
		report.bytes += sizeof(datagram);
	}
	sleep_until(start_s + options->time_s);
	report_end(&report, options->time_s);
	finish(fd, datagram);
	return 0;
}

/* How long to wait for a datagram, in ms: to the interval's end, rounded up */
static int to_edge_ms(const struct report *report, double t_s)
{
	return (int)(((report->count + 1) * report->interval_s - t_s) * 1e3) + 1;
}

static int run_server(const struct options *options)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(options->port) };
	struct report report = { .interval_s = options->interval_s };
	char datagram[PAYLOAD_BYTES], answer = FIN_ACK;
	struct pollfd waiting = { .events = POLLIN };
	struct sockaddr_in client;
	socklen_t length = sizeof(client);
	double start_s = 0, t_s = 0;
	ssize_t got;

	waiting.fd = udp_socket();
	if (bind(waiting.fd, (struct sockaddr *)&here, sizeof(here)))
		fail("bind");
	for (;;) {
		int ready = poll(&waiting, 1, start_s > 0 ? to_edge_ms(&report, t_s) : -1);

		if (start_s <= 0)
			start_s = now_s();
		t_s = now_s() - start_s;
		report_until(&report, t_s);
		if (ready <= 0)
			continue;
		length = sizeof(client);
		got = recvfrom(waiting.fd, datagram, sizeof(datagram), 0,
			       (struct sockaddr *)&client, &length);
		if (got < 0)
			fail("recvfrom");
		if (got > 0 && datagram[0] == FIN)
			break;
		report.bytes += got;
	}
	report_end(&report, t_s);
	if (sendto(waiting.fd, &answer, 1, 0, (struct sockaddr *)&client, length) < 0)
		fail("sendto");
	return 0;
}

static void refuse(const char *option, const char *text, const char *complaint)
{
	fprintf(stderr, "steady: %s%s%s: %s\n", option, text ? " " : "", text ? text : "",
		complaint);
	exit(2);
}

static double number(const char *option, const char *text, double largest)
{
	char *end;
	double value = strtod(text, &end);

	if (!*text || *end || !(value > 0 && value <= largest))
		refuse(option, text, "the value must be a number above 0 and not too large");
	return value;
}

/* Exact names only: what is mistyped must not run with a default in silence */
static void parse(int argc, char **argv, struct options *options)
{
	double port = options->port;
	const struct {
		const char *name;
		double *value, largest;
	} numbers[] = {
		{ "--port", &port, 65535 },
		{ "--time", &options->time_s, 1e6 },
		{ "--interval", &options->interval_s, 1e6 },
		{ "--rate-bps", &options->rate_bps, LARGEST_RATE_BPS },
	};
	const size_t count = sizeof(numbers) / sizeof(numbers[0]);
	size_t n;
	int k;

	for (k = 1; k < argc; k++) {
		const char *option = argv[k];

		if (!strcmp(option, "--one-off") || !strcmp(option, "--json"))
			continue; /* one test, in JSON: this program does nothing else */
		if (!strcmp(option, "--server")) {
			options->server = true;
			continue;
		}
		if (k + 1 == argc)
			refuse(option, NULL, "unknown, or without a value");
		k++;
		if (!strcmp(option, "--client")) {
			options->client = argv[k];
			continue;
		}
		for (n = 0; n < count && strcmp(option, numbers[n].name); n++)
			;
		if (n == count)
			refuse(option, argv[k], "there is no such option; there is --rate-bps");
		*numbers[n].value = number(option, argv[k], numbers[n].largest);
	}
	options->port = (int)port;
}

int main(int argc, char **argv)
{
	struct options options = {
		.port = 5201,
		.time_s = 10,
		.interval_s = 1,
		.rate_bps = DEFAULT_RATE_BPS,
	};

	parse(argc, argv, &options);
	if (options.server == (options.client != NULL)) {
		fprintf(stderr, "steady: give either --server or --client ADDRESS\n");
		return 2;
	}
	return options.server ? run_server(&options) : run_client(&options);
}
