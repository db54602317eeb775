// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loops that look for something in place of waiting for it, each until a timer of
 * 20 ms ends it, and the time stamp counter. Prints a line for each: name, number
 * of looks, microseconds. The last loop has no end.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static volatile sig_atomic_t is_over;
static int pair[2], full[2], many[100], null, child, epoll;

static void end_loop(int signal)
{
	(void)signal;
	is_over = 1;
}

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void sleep_ns(long ns)
{
	struct timespec time = { 0, ns };

	nanosleep(&time, NULL);
}

static void look_by_clock(void) { now_ns(); }
static void look_by_counter(void) { __rdtsc(); }
static void look_by_poll(void) { poll(NULL, 0, 0); }
static void look_by_yield(void) { sched_yield(); }
static void look_by_end_of_file(void) { char byte; (void)!read(null, &byte, 1); }
static void look_by_receive(void) { char byte; recv(full[1], &byte, 1, MSG_DONTWAIT); }
static void look_by_peek(void) { char byte; recv(pair[0], &byte, 1, MSG_PEEK); }
static void look_by_send(void) { char bytes[4096]; send(full[0], bytes, 4096, MSG_DONTWAIT); }
static void look_for_child(void) { waitpid(child, NULL, WNOHANG); }
static void look_for_file(void) { struct stat found; stat("/nowhere", &found); }

static void look_for_listener(void)
{
	struct sockaddr_in nobody = { AF_INET, htons(1), { htonl(INADDR_LOOPBACK) } };
	int connection = socket(AF_INET, SOCK_STREAM, 0);

	connect(connection, (struct sockaddr *)&nobody, sizeof(nobody));
	close(connection);
}

/* A step of another descriptor each time, and none that was not made before */
static void look_by_many(void)
{
	struct epoll_event event = { EPOLLIN, { NULL } };
	static int number;

	epoll_ctl(epoll, EPOLL_CTL_MOD, many[number++ % 100], &event);
	epoll_wait(epoll, &event, 1, 0);
}

static void look_by_select(void)
{
	struct timeval none = { 0, 0 };
	fd_set ready;

	/* What is ready is not read */
	FD_ZERO(&ready);
	FD_SET(pair[0], &ready);
	select(pair[0] + 1, &ready, NULL, NULL, &none);
}

static void loop(const char *name, void (*look)(void))
{
	struct itimerval timer = { .it_value = { 0, 20000 } };
	long began_ns = now_ns(), looks = 0;

	is_over = 0;
	setitimer(ITIMER_REAL, &timer, NULL);
	for (; !is_over; looks++)
		look();
	printf("%s %ld %ld\n", name, looks, (now_ns() - began_ns) / 1000);
}

/* A program that sleeps ten times for 1 ms beside one that polls is on time */
static void sleep_beside_a_loop(void)
{
	long *took_ns = mmap(NULL, sizeof(*took_ns), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int sleeper = fork(), number;

	if (!sleeper) {
		long began_ns = now_ns();

		for (number = 0; number < 10; number++)
			sleep_ns(1000000);
		*took_ns = now_ns() - began_ns;
		_exit(0);
	}
	while (!waitpid(sleeper, NULL, WNOHANG))
		poll(NULL, 0, 0);
	printf("sleeper 10 %ld\n", *took_ns / 1000);
}

int main(void)
{
	struct epoll_event event = { EPOLLIN, { NULL } };
	unsigned int processor = 7;
	int number;
	unsigned long long began, ended;

	signal(SIGALRM, end_loop);
	null = open("/dev/null", O_RDONLY);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	socketpair(AF_UNIX, SOCK_STREAM, 0, full);
	(void)!write(pair[1], "", 1);
	epoll = epoll_create1(0);
	for (number = 0; number < 100; number++) {
		many[number] = dup(pair[1]);
		epoll_ctl(epoll, EPOLL_CTL_ADD, many[number], &event);
	}
	child = fork();
	if (!child)
		for (;;)
			pause();
	began = __rdtsc();
	sleep_ns(100000000);
	ended = __rdtscp(&processor);
	printf("counter %u %llu\n", processor, (ended - began) / 1000);
	sleep_beside_a_loop();
	loop("clock", look_by_clock);
	loop("rdtsc", look_by_counter);
	loop("poll", look_by_poll);
	loop("select", look_by_select);
	loop("yield", look_by_yield);
	loop("end-of-file", look_by_end_of_file);
	loop("receive", look_by_receive);
	loop("peek", look_by_peek);
	loop("send", look_by_send);
	loop("child", look_for_child);
	loop("file", look_for_file);
	loop("listener", look_for_listener);
	loop("many", look_by_many);
	fflush(stdout);
	for (;;)
		poll(NULL, 0, 0);
}
