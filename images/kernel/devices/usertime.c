// SPDX-License-Identifier: GPL-2.0
/*
 * usertime: time as a user's programs find it in a guest of virtual time.
 *
 * The guest's clock moves when all its programs wait, or read it. Two kinds of programs
 * do not fit into that. The module serves both, for programs that start after it. And it
 * steps the wall clock of one host.
 *
 * The time stamp counter. The instructions rdtsc and rdtscp read the machine's, which
 * goes on in real time and is another one in each run. Go's scheduler and Java's virtual
 * machine take random numbers from it. prctl(PR_SET_TSC) makes them fail in the processes
 * that carry the guest's programs, which then see a counter of one tick for each virtual
 * nanosecond. Linux does not export what that needs. The addresses are parameters: those
 * of the table of signals (arch/um/os-Linux/signal.c) and of the pointer by which Linux
 * calls the C library's clone() (arch/um/os-Linux/skas/process.c).
 *
 * Loops that look. A program that polls or reads the clock until something happens does
 * not wait, and so hardly moves the virtual clock. Each look, a system call that neither
 * waits nor moves bytes, takes a part of the virtual time since the program last waited,
 * moved bytes or got on otherwise. So a loop comes to its end after some hundred looks,
 * and ends late by at most that part. A program that gets on is not in a loop: it opens
 * one connection after the other, say. Everything follows from system calls alone, and is
 * the same in each run. A look that takes long sleeps, so that other programs go on
 * meanwhile.
 *
 * Loops without a system call. A program that reads a variable until another program or
 * thread changes it never enters the kernel, and so no other runs. The lab sends the process
 * that carries it SIGSEGV once it has computed for long; the program then sleeps, for twice
 * as long each time until it makes a system call that is watched.
 *
 * The wall clock of a host. All hosts share this kernel's CLOCK_REALTIME. The processes of
 * a host have a PID namespace of their own, and of one such namespace the calls that return
 * the time add an offset to it: clock_gettime() of CLOCK_REALTIME, its coarse form and
 * CLOCK_TAI, gettimeofday(), time(), and time stamps of received packets. Calls that take
 * an absolute time of these clocks get it without the offset: clock_nanosleep(),
 * timer_settime(), timerfd_settime(), futex() and its newer forms, mq_timedsend() and
 * mq_timedreceive(). Not done: a wait under way, and a timer that was set before, end when
 * they would have ended, and TFD_TIMER_CANCEL_ON_SET cancels none; times of files, of
 * io_uring, of adjtimex() and of SIOCGSTAMP are without the offset.
 *
 * /proc/usertime has "tsc", and "virtual" or "real"; then "freed", and how often a loop
 * without a system call has slept; then a line for each stepped clock:
 * "clock", number of the PID namespace, offset in ns; then a line for each program whose
 * looks took time: number of its network namespace, process, looks that took time, their
 * time in ns, and command. Number and offset written to it step a clock.
 */

#include <linux/capability.h>
#include <linux/file.h>
#include <linux/futex.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/pid_namespace.h>
#include <linux/posix-timers.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/socket.h>
#include <linux/timekeeping.h>
#include <linux/timerfd.h>
#include <linux/uaccess.h>
#include <asm/delay.h>
#include <asm/ioctls.h>
#include <net/net_namespace.h>
#include <sysdep/ptrace.h>
#include "host.h"

#define MOST_SYSCALLS 512
#define MOST_TASKS 4096
#define MOST_CLOCKS 256

#define GENERAL_PROTECTION 13	/* trap number of rdtsc where it is forbidden */
#define HOST_PR_SET_TSC 26	/* of prctl(2) */
#define HOST_PR_TSC_SIGSEGV 2
#define HOST_PROT_ALL 7		/* PROT_READ | PROT_WRITE | PROT_EXEC of mprotect(2) */
#define HOST_PAGE 4096UL
/* CLONE_VFORK | CLONE_VM | SIGCHLD, by which start_userspace() alone clones */
#define STUB_FLAGS (0x4000 | 0x100 | 17)

/*
 * A program looks so often for free. Then a look takes PART of the time since it last
 * waited, at least CLOCK_NS, which is what reading the clock takes (TIMER_MULTIPLIER in
 * arch/um/kernel/time.c), and at most SHORT_NS, or of a long time FINE_PART, at most
 * LONG_NS. Calls that fail for want of a file or a listener are free for longer: programs
 * look for their files so.
 */
#define FREE_LOOKS 32
#define FREE_AGAIN 4		/* of a program that has just been in such a loop */
#define FREE_FAILURES 1024
#define CLOCK_NS 256
#define PART 4
#define SHORT_NS 40000
#define FINE_PART 1024
#define LONG_NS 1000000
#define LONG_FAILURE_NS 100000
/*
 * A step is a call that makes a descriptor or a process, or changes one. It ends a loop as
 * moved bytes do, except if the descriptor or process is among the RECENT of the last
 * such steps: a loop that does not get on has few of them. One that has more is a loop
 * after FREE_STEPS.
 */
#define RECENT 16
#define FREE_STEPS 65536
/*
 * Programs read the clock thousands of times in a row without looping, as for each of
 * 5000 connections that begin. A thread has SPARE_LOOKS free looks beside FREE_LOOKS, and
 * gets another for each SPARE_NS that it waits.
 */
#define SPARE_LOOKS 32768
#define SPARE_NS 10000
/* Shorter times pass without a sleep: the timer's resolution (TIMER_MIN_DELTA) */
#define LEAST_SLEEP_NS 2000

typedef void (*signal_handler)(int, struct siginfo *, struct uml_pt_regs *, void *);
typedef long (*system_call)(long, long, long, long, long, long);
typedef int (*clone_call)(int (*)(void *), void *, int, void *);

static ulong signals_at, calls_at, clock_at, clone_at;
module_param_named(sig_info, signals_at, ulong, 0400);
MODULE_PARM_DESC(sig_info, "address of Linux's table of signal handlers");
module_param_named(sys_call_table, calls_at, ulong, 0400);
MODULE_PARM_DESC(sys_call_table, "address of Linux's table of system calls");
module_param_named(time_travel_time, clock_at, ulong, 0400);
MODULE_PARM_DESC(time_travel_time, "address of the virtual clock");
module_param_named(clone_slot, clone_at, ulong, 0400);
MODULE_PARM_DESC(clone_slot, "address of the pointer to the C library's clone()");

enum kind {
	OTHER,
	LOOK,		/* returns what there is, or waits for it */
	TRANSFER,	/* moves bytes, or looks whether there are any */
	RECEIVE,	/* as TRANSFER; the fourth argument has flags */
	RECEIVE_MESSAGE,	/* as RECEIVE; the third argument has them */
	OPENING,	/* a look if it fails */
	ATTEMPT,	/* for free for longer if it fails */
};

static const u8 kinds[MOST_SYSCALLS] = {
	[__NR_clock_gettime] = LOOK, [__NR_gettimeofday] = LOOK, [__NR_time] = LOOK,
	[__NR_times] = LOOK, [__NR_getrusage] = LOOK, [__NR_sysinfo] = LOOK,
	[__NR_getitimer] = LOOK, [__NR_timer_gettime] = LOOK, [__NR_timerfd_gettime] = LOOK,
	[__NR_poll] = LOOK, [__NR_ppoll] = LOOK, [__NR_select] = LOOK, [__NR_pselect6] = LOOK,
	[__NR_epoll_wait] = LOOK, [__NR_epoll_pwait] = LOOK, [__NR_epoll_pwait2] = LOOK,
	[__NR_sched_yield] = LOOK, [__NR_nanosleep] = LOOK, [__NR_clock_nanosleep] = LOOK,
	[__NR_getsockopt] = LOOK, [__NR_ioctl] = LOOK, [__NR_wait4] = LOOK,
	[__NR_waitid] = LOOK, [__NR_rt_sigpending] = LOOK, [__NR_rt_sigtimedwait] = LOOK,
	[__NR_io_getevents] = LOOK, [__NR_io_pgetevents] = LOOK,

	[__NR_read] = TRANSFER, [__NR_readv] = TRANSFER, [__NR_pread64] = TRANSFER,
	[__NR_preadv] = TRANSFER, [__NR_preadv2] = TRANSFER, [__NR_write] = TRANSFER,
	[__NR_writev] = TRANSFER, [__NR_pwrite64] = TRANSFER, [__NR_pwritev] = TRANSFER,
	[__NR_pwritev2] = TRANSFER, [__NR_sendto] = TRANSFER, [__NR_sendmsg] = TRANSFER,
	[__NR_sendmmsg] = TRANSFER, [__NR_recvmmsg] = TRANSFER, [__NR_sendfile] = TRANSFER,
	[__NR_splice] = TRANSFER, [__NR_tee] = TRANSFER, [__NR_vmsplice] = TRANSFER,
	[__NR_copy_file_range] = TRANSFER, [__NR_getdents] = TRANSFER,
	[__NR_getdents64] = TRANSFER, [__NR_io_uring_enter] = TRANSFER,
	[__NR_io_submit] = TRANSFER, [__NR_msgrcv] = TRANSFER, [__NR_mq_timedreceive] = TRANSFER,
	[__NR_recvfrom] = RECEIVE, [__NR_recvmsg] = RECEIVE_MESSAGE,

	[__NR_accept] = OPENING, [__NR_accept4] = OPENING, [__NR_socket] = OPENING,
	[__NR_clone] = OPENING, [__NR_clone3] = OPENING, [__NR_fork] = OPENING,
	[__NR_vfork] = OPENING,

	[__NR_connect] = ATTEMPT, [__NR_bind] = ATTEMPT, [__NR_listen] = ATTEMPT,
	[__NR_creat] = ATTEMPT, [__NR_openat2] = ATTEMPT, [__NR_futex] = ATTEMPT,
	[__NR_kill] = ATTEMPT, [__NR_tgkill] = ATTEMPT, [__NR_stat] = ATTEMPT,
	[__NR_lstat] = ATTEMPT,
	[__NR_newfstatat] = ATTEMPT, [__NR_statx] = ATTEMPT, [__NR_access] = ATTEMPT,
	[__NR_faccessat] = ATTEMPT, [__NR_faccessat2] = ATTEMPT, [__NR_open] = ATTEMPT,
	[__NR_openat] = ATTEMPT, [__NR_mkdir] = ATTEMPT, [__NR_link] = ATTEMPT,
	[__NR_flock] = ATTEMPT, [__NR_fcntl] = ATTEMPT, [__NR_semop] = ATTEMPT,
	[__NR_semtimedop] = ATTEMPT, [__NR_msgsnd] = ATTEMPT, [__NR_mq_timedsend] = ATTEMPT,
};

/* Calls that are steps if they succeed, and where they name the descriptor or process */
enum subject {
	NOBODY,
	RESULT,
	FIRST_ARGUMENT,
	THIRD_ARGUMENT,
};

static const u8 subjects[MOST_SYSCALLS] = {
	[__NR_socket] = RESULT, [__NR_accept] = RESULT, [__NR_accept4] = RESULT,
	[__NR_open] = RESULT, [__NR_creat] = RESULT, [__NR_openat] = RESULT,
	[__NR_openat2] = RESULT, [__NR_dup] = RESULT, [__NR_dup2] = RESULT,
	[__NR_dup3] = RESULT, [__NR_eventfd] = RESULT, [__NR_eventfd2] = RESULT,
	[__NR_timerfd_create] = RESULT, [__NR_epoll_create] = RESULT,
	[__NR_epoll_create1] = RESULT, [__NR_clone] = RESULT, [__NR_clone3] = RESULT,
	[__NR_fork] = RESULT, [__NR_vfork] = RESULT,
	[__NR_connect] = FIRST_ARGUMENT, [__NR_bind] = FIRST_ARGUMENT,
	[__NR_listen] = FIRST_ARGUMENT, [__NR_shutdown] = FIRST_ARGUMENT,
	[__NR_setsockopt] = FIRST_ARGUMENT, [__NR_close] = FIRST_ARGUMENT,
	[__NR_epoll_ctl] = THIRD_ARGUMENT,
};

/* What a thread did since it last waited, moved bytes or made a step */
struct looker {
	pid_t pid;
	u64 born_ns;
	u64 since_ns;		/* when it last waited or moved bytes */
	u64 seen_ns;		/* the end of its last call that was watched */
	ulong waits;		/* how often it had waited then */
	ulong faults;		/* and how many pages it had touched first */
	u64 freed_ns;		/* how long it slept last in a loop without a system call */
	u64 habit_ns;		/* how long its last loop was, halved each time since */
	u32 looks, failures, steps;
	u32 spare;		/* looks; outlasts waits */
	u32 place;		/* of the next step in recent */
	int recent[RECENT];	/* descriptors and processes of its last steps, or -1 */
	/* For /proc/usertime, since it started */
	u64 charged, charged_ns;
	pid_t process;
	char command[TASK_COMM_LEN];
	u32 network;		/* the number of its network namespace */
};

/* By process id; two threads that share a place start anew when they take it */
static struct looker *lookers;
static system_call originals[MOST_SYSCALLS];
static signal_handler original_segv;
static clone_call original_clone;
static int (*stub_main)(void *);
static u64 loaded_ns;
static bool refused;
static ulong freed;
/* Wall clocks that have been stepped, by their host's PID namespace */
static struct wall_clock {
	u32 namespace;
	s64 offset_ns;
} clocks[MOST_CLOCKS];
static int clock_count;

static u64 virtual_ns(void)
{
	return READ_ONCE(*(u64 *)clock_at);
}

/* -------------------------------------------------------------- looking */

static struct looker *looker_of(struct task_struct *task)
{
	struct looker *one = &lookers[task->pid % MOST_TASKS];

	if (one->pid != task->pid || one->born_ns != task->start_time) {
		memset(one, 0, sizeof(*one));
		one->pid = task->pid;
		one->process = task->tgid;
		one->born_ns = task->start_time;
		one->since_ns = virtual_ns();
		one->seen_ns = one->since_ns;
		one->waits = task->nvcsw;
		one->spare = SPARE_LOOKS;
		memset(one->recent, -1, sizeof(one->recent));
		one->network = task->nsproxy->net_ns->ns.inum;
	}
	return one;
}

static bool in_loop(const struct looker *one)
{
	return one->looks > (one->habit_ns ? FREE_AGAIN : FREE_LOOKS);
}

static void end_loop(struct looker *one)
{
	u64 now_ns = virtual_ns();

	one->habit_ns /= 2;
	if (in_loop(one))
		one->habit_ns = max(one->habit_ns, now_ns - one->since_ns);
	one->since_ns = now_ns;
	one->looks = 0;
}

static void start_anew(struct looker *one)
{
	end_loop(one);
	one->failures = 0;
	one->steps = 0;
	memset(one->recent, -1, sizeof(one->recent));
}

static void step(struct looker *one, int subject)
{
	int number;

	for (number = 0; number < RECENT; number++)
		if (one->recent[number] == subject)
			return;
	one->recent[one->place++ % RECENT] = subject;
	if (one->steps++ < FREE_STEPS)
		end_loop(one);
}

static void look(struct looker *one)
{
	if (one->looks >= FREE_LOOKS && one->spare)
		one->spare--;
	else
		one->looks++;
}

static u64 price_ns(const struct looker *one)
{
	u64 time_ns = virtual_ns() - one->since_ns;
	u64 most_ns = LONG_NS;

	if (!in_loop(one)) {
		if (one->failures <= FREE_FAILURES)
			return 0;
		most_ns = LONG_FAILURE_NS;
	}
	most_ns = clamp_t(u64, time_ns / FINE_PART, SHORT_NS, most_ns);
	return clamp_t(u64, max(time_ns, one->habit_ns) / PART, CLOCK_NS, most_ns);
}

static void pass_time(u64 time_ns)
{
	ktime_t time = ns_to_ktime(time_ns);

	if (time_ns < LEAST_SLEEP_NS) {
		time_travel_ndelay(time_ns);
		return;
	}
	set_current_state(TASK_INTERRUPTIBLE);
	schedule_hrtimeout_range(&time, 0, HRTIMER_MODE_REL);
}

static void charge(struct looker *one)
{
	u64 price = price_ns(one);

	if (!price)
		return;
	one->charged++;
	one->charged_ns += price;
	get_task_comm(one->command, current);
	pass_time(price);
}

/* Whether a thread has waited or touched new memory since its last call that was noted */
static bool waited(struct looker *one)
{
	u64 waited_ns = current->nvcsw != one->waits ? virtual_ns() - one->seen_ns : 0;
	ulong faults = current->min_flt + current->maj_flt;
	bool touched = faults != one->faults;

	one->spare = min_t(u64, one->spare + waited_ns / SPARE_NS, SPARE_LOOKS);
	one->faults = faults;
	return waited_ns || touched;
}

/* Notes a call that has returned: what it was; stepped: whose step, or -1 for none */
static void note(bool moved, bool looked, bool failed, int stepped)
{
	struct looker *one = looker_of(current);

	if (waited(one) || moved) {
		start_anew(one);
	} else if (stepped >= 0) {
		step(one, stepped);
	} else if (looked || failed) {
		if (looked)
			look(one);
		one->failures += failed;
		charge(one);
	}
	one->waits = current->nvcsw;
	one->seen_ns = virtual_ns();
	one->freed_ns = 0;
}

/* The running program has computed for long without a system call */
static void let_others_run(void)
{
	struct looker *one = looker_of(current);

	if (current->start_time < loaded_ns)
		return;
	one->freed_ns = one->freed_ns ? 2 * one->freed_ns : SHORT_NS;
	freed++;
	pass_time(one->freed_ns);
}

/* ---------------------------------------------- the wall clock of a host */

/* Calls that know the time of a wall clock, beside those of kinds */
static const u8 knows_time[MOST_SYSCALLS] = {
	[__NR_timer_settime] = true, [__NR_timerfd_settime] = true,
	[__NR_futex_wait] = true, [__NR_futex_waitv] = true,
};

static s64 offset_ns_here(void)
{
	const struct pid_namespace *namespace;
	int number;

	for (namespace = task_active_pid_ns(current); namespace; namespace = namespace->parent)
		for (number = 0; number < clock_count; number++)
			if (clocks[number].namespace == namespace->ns.inum)
				return clocks[number].offset_ns;
	return 0;
}

static bool is_wall(long clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
	       clock == CLOCK_REALTIME_ALARM || clock == CLOCK_TAI;
}

/* The clock of a descriptor of timerfd_create(), or -1; nothing else tells it */
static long clock_of_descriptor(int descriptor)
{
	char buffer[256] = "";
	struct seq_file text = { .buf = buffer, .size = sizeof(buffer) - 1 };
	struct file *file = fget(descriptor);
	long clock = -1;

	if (!file)
		return -1;
	if (file->f_op->show_fdinfo)
		file->f_op->show_fdinfo(&text, file);
	fput(file);
	return sscanf(buffer, "clockid: %ld", &clock) == 1 ? clock : -1;
}

/* The clock of a timer of timer_create(), or -1 */
static long clock_of_timer(timer_t id)
{
	struct k_itimer *timer;
	long clock = -1;

	spin_lock_irq(&current->sighand->siglock);
	hlist_for_each_entry(timer, &current->signal->posix_timers, list)
		if (timer->it_id == id)
			clock = timer->it_clock;
	spin_unlock_irq(&current->sighand->siglock);
	return clock;
}

static bool futex_is_until_wall(int operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_LOCK_PI:
		return true;
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI2:
		return operation & FUTEX_CLOCK_REALTIME;
	}
	return false;
}

/* Which argument has an absolute time of a wall clock, from 0; -1 for none */
static int place_of_deadline(long number, const long *arguments)
{
	switch (number) {
	case __NR_clock_nanosleep:
		return is_wall(arguments[0]) && arguments[1] & TIMER_ABSTIME ? 2 : -1;
	case __NR_timer_settime:
		return arguments[1] & TIMER_ABSTIME && is_wall(clock_of_timer(arguments[0])) ?
		       2 : -1;
	case __NR_timerfd_settime:
		return arguments[1] & TFD_TIMER_ABSTIME &&
		       is_wall(clock_of_descriptor(arguments[0])) ? 2 : -1;
	case __NR_futex:
		return futex_is_until_wall(arguments[1]) ? 3 : -1;
	case __NR_futex_wait:
		return is_wall(arguments[5]) ? 4 : -1;
	case __NR_futex_waitv:
		return is_wall(arguments[4]) ? 3 : -1;
	case __NR_mq_timedsend:
	case __NR_mq_timedreceive:
		return 4;
	}
	return -1;
}

/*
 * Maps a page into the program's memory with the time at an address less the offset, and
 * returns its address, or 0. A timer's time has its interval before it, and 0 stops it.
 */
static unsigned long map_deadline(const void __user *given, bool is_timer, s64 offset_ns)
{
	struct __kernel_timespec times[2];
	struct __kernel_timespec *time = &times[is_timer];
	size_t bytes = is_timer ? sizeof(times) : sizeof(times[0]);
	ulong faults = current->min_flt;
	struct timespec64 moved;
	unsigned long page;

	if (!given || copy_from_user(times, given, bytes) || time->tv_sec < 0 ||
	    time->tv_sec >= KTIME_SEC_MAX / 2 || time->tv_nsec < 0 ||
	    time->tv_nsec >= NSEC_PER_SEC || (is_timer && !time->tv_sec && !time->tv_nsec))
		return 0;
	moved = ns_to_timespec64(time->tv_sec * NSEC_PER_SEC + time->tv_nsec - offset_ns);
	if (moved.tv_sec < 0)
		moved = (struct timespec64){ .tv_nsec = 1 };
	time->tv_sec = moved.tv_sec;
	time->tv_nsec = moved.tv_nsec;
	page = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
	if (IS_ERR_VALUE(page))
		return 0;
	if (copy_to_user((void __user *)page, times, bytes)) {
		vm_munmap(page, PAGE_SIZE);
		return 0;
	}
	/* The program itself touched no new memory */
	current->min_flt = faults;
	return page;
}

/* Adds the offset to a time in the program's memory, in s and in parts of a second */
static void move_time(long __user *time, long parts, s64 offset_ns)
{
	long part_ns = NSEC_PER_SEC / parts;
	struct timespec64 moved;
	long s, part;

	if (!time || get_user(s, time) || get_user(part, time + 1) || (!s && !part))
		return;
	moved = ns_to_timespec64(s * NSEC_PER_SEC + part * part_ns + offset_ns);
	if (put_user(moved.tv_sec, time) || put_user(moved.tv_nsec / part_ns, time + 1))
		pr_warn_once("usertime: a time was read only in part\n");
}

/* Adds the offset to the time stamps of a received packet */
static void move_stamps(const struct user_msghdr __user *message, s64 offset_ns)
{
	struct user_msghdr header;
	struct cmsghdr control;
	size_t at = 0;

	if (copy_from_user(&header, message, sizeof(header)))
		return;
	for (; at + sizeof(control) <= header.msg_controllen; at += CMSG_ALIGN(control.cmsg_len)) {
		long __user *data = header.msg_control + at + sizeof(control);

		if (copy_from_user(&control, header.msg_control + at, sizeof(control)) ||
		    control.cmsg_len < sizeof(control))
			return;
		if (control.cmsg_level != SOL_SOCKET)
			continue;
		if (control.cmsg_type == SO_TIMESTAMP_OLD || control.cmsg_type == SO_TIMESTAMP_NEW)
			move_time(data, USEC_PER_SEC, offset_ns);
		else if (control.cmsg_type == SO_TIMESTAMPNS_OLD ||
			 control.cmsg_type == SO_TIMESTAMPNS_NEW ||
			 control.cmsg_type == SO_TIMESTAMPING_OLD ||
			 control.cmsg_type == SO_TIMESTAMPING_NEW)
			move_time(data, NSEC_PER_SEC, offset_ns);
	}
}

/* The seconds that time(2) returns with an offset */
static long seconds(long __user *place, s64 offset_ns)
{
	struct timespec64 now;

	ktime_get_coarse_real_ts64(&now);
	now = ns_to_timespec64(timespec64_to_ns(&now) + offset_ns);
	return place && put_user(now.tv_sec, place) ? -EFAULT : now.tv_sec;
}

/* Moves the times that a call has returned; returns the call's result */
static long move_result(long number, const long *arguments, long result, s64 offset_ns)
{
	const struct mmsghdr __user *messages;

	switch (number) {
	case __NR_clock_gettime:
		if (!result && is_wall(arguments[0]))
			move_time((long __user *)arguments[1], NSEC_PER_SEC, offset_ns);
		break;
	case __NR_gettimeofday:
		if (!result)
			move_time((long __user *)arguments[0], USEC_PER_SEC, offset_ns);
		break;
	case __NR_time:
		return result < 0 ? result : seconds((long __user *)arguments[0], offset_ns);
	case __NR_recvmsg:
		if (result >= 0)
			move_stamps((const void __user *)arguments[1], offset_ns);
		break;
	case __NR_recvmmsg:
		for (messages = (const void __user *)arguments[1]; messages &&
		     messages - (const struct mmsghdr __user *)arguments[1] < result; messages++)
			move_stamps(&messages->msg_hdr, offset_ns);
		break;
	}
	return result;
}

static long call(long number, long a, long b, long c, long d, long e, long f)
{
	s64 offset_ns = clock_count ? offset_ns_here() : 0;
	long arguments[6] = { a, b, c, d, e, f };
	unsigned long page = 0;
	long result;
	int place;

	if (!offset_ns)
		return originals[number](a, b, c, d, e, f);
	place = place_of_deadline(number, arguments);
	if (place >= 0)
		page = map_deadline((const void __user *)arguments[place],
				    number == __NR_timer_settime || number == __NR_timerfd_settime,
				    offset_ns);
	if (page)
		arguments[place] = page;
	result = originals[number](arguments[0], arguments[1], arguments[2], arguments[3],
				   arguments[4], arguments[5]);
	if (page)
		vm_munmap(page, PAGE_SIZE);
	return move_result(number, arguments, result, offset_ns);
}

/* A call that is no look and no step */
static long clocked_call(long a, long b, long c, long d, long e, long f)
{
	return call(UPT_SYSCALL_NR(&current->thread.regs.regs), a, b, c, d, e, f);
}

static long watched_call(long a, long b, long c, long d, long e, long f)
{
	long number = UPT_SYSCALL_NR(&current->thread.regs.regs);
	long flags = kinds[number] == RECEIVE ? d : kinds[number] == RECEIVE_MESSAGE ? c : 0;
	long result = call(number, a, b, c, d, e, f);
	bool failed = result < 0 && result != -EINPROGRESS;
	int stepped = -1;

	if (current->start_time < loaded_ns)
		return result;
	if (!failed && subjects[number])
		stepped = subjects[number] == RESULT ? result :
			  subjects[number] == FIRST_ARGUMENT ? a : c;
	switch (kinds[number]) {
	case LOOK:
		if (number == __NR_ioctl && b == FIONBIO)
			note(false, false, false, a);
		else
			note(false, true, false, -1);
		break;
	case TRANSFER:
	case RECEIVE:
	case RECEIVE_MESSAGE:
		note(result > 0 && !(flags & MSG_PEEK), result <= 0 || flags & MSG_PEEK, false, -1);
		break;
	case OPENING:
		note(false, failed, false, stepped);
		break;
	default:
		note(false, false, failed && kinds[number] == ATTEMPT, stepped);
	}
	return result;
}

/* --------------------------------------------- the time stamp counter */

/* Returns the length of the instruction if it reads the counter, or 0 */
static int counter_bytes(unsigned long address)
{
	const u8 __user *code = (const u8 __user *)address;
	u8 byte[3];

	if (get_user(byte[0], code) || get_user(byte[1], code + 1) || byte[0] != 0x0f)
		return 0;
	if (byte[1] == 0x31)
		return 2;
	return byte[1] == 0x01 && !get_user(byte[2], code + 2) && byte[2] == 0xf9 ? 3 : 0;
}

static bool read_counter(struct uml_pt_regs *regs)
{
	int bytes = counter_bytes(UPT_IP(regs));
	u64 ticks;

	if (!bytes)
		return false;
	/* What reading the clock takes; no two readings are the same */
	time_travel_ndelay(CLOCK_NS);
	ticks = virtual_ns();
	UPT_AX(regs) = (u32)ticks;
	UPT_DX(regs) = ticks >> 32;
	if (bytes == 3)
		UPT_CX(regs) = 0;	/* the processor's number, as of getcpu(2) */
	UPT_IP(regs) += bytes;
	note(false, true, false, -1);
	return true;
}

static void user_segv(int signal, struct siginfo *info, struct uml_pt_regs *regs, void *context)
{
	if (UPT_IS_USER(regs) && info->si_code == SI_USER) {
		let_others_run();
		return;
	}
	if (UPT_IS_USER(regs) && UPT_FAULTINFO(regs)->trap_no == GENERAL_PROTECTION &&
	    read_counter(regs))
		return;
	original_segv(signal, info, regs, context);
}

/* The first that a process does which will carry a program of the guest */
static int start_stub(void *argument)
{
	if (syscall(__NR_prctl, (long)HOST_PR_SET_TSC, (long)HOST_PR_TSC_SIGSEGV, 0L, 0L, 0L))
		refused = true;
	return stub_main(argument);
}

/* The child has this memory, and its parent waits until it has started a program */
static int clone_stub(int (*function)(void *), void *stack, int flags, void *argument)
{
	if (flags != STUB_FLAGS)
		return original_clone(function, stack, flags, argument);
	stub_main = function;
	return original_clone(start_stub, stack, flags, argument);
}

/* --------------------------------------------------------------- module */

static int show_lookers(struct seq_file *file, void *unused)
{
	int number;

	seq_printf(file, "tsc %s\n", refused ? "real" : "virtual");
	seq_printf(file, "freed %lu\n", freed);
	for (number = 0; number < clock_count; number++)
		seq_printf(file, "clock %u %lld\n", clocks[number].namespace,
			   clocks[number].offset_ns);
	for (number = 0; number < MOST_TASKS; number++) {
		const struct looker *one = &lookers[number];

		if (one->charged)
			seq_printf(file, "%u %d %llu %llu %s\n", one->network, one->process,
				   one->charged, one->charged_ns, one->command);
	}
	return 0;
}

static int open_lookers(struct inode *inode, struct file *file)
{
	return single_open(file, show_lookers, NULL);
}

static int set_clock(u32 namespace, s64 offset_ns)
{
	int number;

	for (number = 0; number < clock_count; number++)
		if (clocks[number].namespace == namespace)
			break;
	if (number == MOST_CLOCKS)
		return -ENOSPC;
	clocks[number].namespace = namespace;
	clocks[number].offset_ns = offset_ns;
	clock_count = max(clock_count, number + 1);
	return 0;
}

static ssize_t step_clock(struct file *file, const char __user *given, size_t bytes, loff_t *at)
{
	char text[64] = "";
	s64 offset_ns;
	u32 namespace;
	int error;

	if (!capable(CAP_SYS_TIME))
		return -EPERM;
	if (bytes >= sizeof(text) || copy_from_user(text, given, bytes) ||
	    sscanf(text, "%u %lld", &namespace, &offset_ns) != 2)
		return -EINVAL;
	error = set_clock(namespace, offset_ns);
	return error ? error : bytes;
}

static const struct proc_ops file_ops = {
	.proc_open = open_lookers,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = step_clock,
};

static int replace_calls(void)
{
	system_call *table = (system_call *)calls_at;
	ulong first = calls_at & ~(HOST_PAGE - 1);
	ulong end = ALIGN((ulong)(table + __NR_syscalls), HOST_PAGE);
	int number;

	if (syscall(__NR_mprotect, first, end - first, (long)HOST_PROT_ALL))
		return -EPERM;
	for (number = 0; number < min(__NR_syscalls, MOST_SYSCALLS); number++) {
		bool is_watched = kinds[number] != OTHER || subjects[number] != NOBODY;

		if (!is_watched && !knows_time[number])
			continue;
		originals[number] = table[number];
		WRITE_ONCE(table[number], is_watched ? watched_call : clocked_call);
	}
	return 0;
}

/* The module stays: its guest ends with the programs */
static int __init usertime_init(void)
{
	signal_handler *segv = &((signal_handler *)signals_at)[SIGSEGV];
	clone_call *clone = (clone_call *)clone_at;
	int error;

	if (!signals_at || !calls_at || !clock_at || !clone_at)
		return -EINVAL;
	lookers = kvcalloc(MOST_TASKS, sizeof(*lookers), GFP_KERNEL);
	if (!lookers || !proc_create("usertime", 0644, NULL, &file_ops))
		return -ENOMEM;
	loaded_ns = ktime_get_ns();
	error = replace_calls();
	if (error)
		return error;
	original_segv = *segv;
	original_clone = *clone;
	WRITE_ONCE(*segv, user_segv);
	WRITE_ONCE(*clone, clone_stub);
	return 0;
}
module_init(usertime_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Virtual time stamp counter, time for loops that look, clocks of hosts");
