// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the kernel's tracepoints to a file of the host, each with the virtual time at which it was
 * passed. It is compiled into kernel/trace/trace_clock.o of a kernel of farpath trace-kernel
 * (images/kernel/build), and asked for by the environment of the kernel's process: the command line
 * goes into its random numbers, and programs of the guest would be other programs.
 *
 *   FARPATH_TRACE_FILE     the file
 *   FARPATH_TRACE_EVENTS   tcp:*,qdisc:qdisc_dequeue
 *   FARPATH_TRACE_FROM_NS, FARPATH_TRACE_TO_NS   an interval of the virtual clock
 *   FARPATH_TRACE_MOST     how many events are written at most
 *   FARPATH_TRACE_CLOCK    the address of time_travel_time, which is static in arch/um/kernel/time.c
 *
 * Lines of the file, with tabs between: "has", system and event, of each that this kernel has;
 * "event", time in ns, process, its name, where ("task", "softirq" or "hardirq"), system, and what the
 * kernel prints of it; "lost" and the number of those beyond the most.
 *
 * ftrace hands on each event when it is committed (register_ftrace_export, include/linux/trace.h).
 * The virtual clock stands still meanwhile.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace.h>
#include <linux/trace_events.h>
#include <init.h>
#include <os.h>
#include "../kernel/trace/trace.h"
#include "../kernel/trace/trace_output.h"

#define BUFFER_BYTES	(1 << 18)
#define FORMAT_BYTES	4096

/* Of the C library, of which the kernel is a program */
extern char *getenv(const char *name);

static struct {
	int file;
	const u64 *now_ns;
	u64 from_ns, to_ns, most, written, lost;
	bool busy;
	struct trace_iterator *iter;
	size_t used;
	char text[BUFFER_BYTES];
} trace_file;

static void notrace flush(void)
{
	size_t at = 0;

	while (at < trace_file.used) {
		int wrote = os_write_file(trace_file.file, trace_file.text + at,
					  trace_file.used - at);

		if (wrote == -EINTR || wrote == -EAGAIN)
			continue;
		if (wrote <= 0)
			break;
		at += wrote;
	}
	trace_file.used = 0;
}

static __printf(1, 2) void notrace put(const char *format, ...)
{
	size_t room;
	va_list rest;
	int length;

	if (BUFFER_BYTES - trace_file.used < 2 * PAGE_SIZE + FORMAT_BYTES)
		flush();
	room = BUFFER_BYTES - trace_file.used;
	va_start(rest, format);
	length = vscnprintf(trace_file.text + trace_file.used, room, format, rest);
	va_end(rest);
	trace_file.used += length;
}

static const char *notrace where(void)
{
	if (in_hardirq())
		return "hardirq";
	return in_serving_softirq() ? "softirq" : "task";
}

static void notrace put_event(struct trace_entry *entry)
{
	struct trace_iterator *iter = trace_file.iter;
	struct trace_event *event = ftrace_find_event(entry->type);
	struct trace_event_call *call;
	size_t length;

	if (!event || !event->funcs || !event->funcs->trace)
		return;
	call = container_of(event, struct trace_event_call, event);
	trace_seq_init(&iter->seq);
	iter->ent = entry;
	event->funcs->trace(iter, 0, event);
	length = trace_seq_used(&iter->seq);
	while (length && iter->seq.buffer[length - 1] == '\n')
		length--;
	put("event\t%llu\t%d\t%s\t%s\t%s\t%.*s\n", *trace_file.now_ns,
	    task_pid_nr(current), current->comm, where(), call->class->system,
	    (int)length, iter->seq.buffer);
}

static void notrace write_event(struct trace_export *export, const void *entry,
				unsigned int size)
{
	unsigned long flags;

	if (*trace_file.now_ns < trace_file.from_ns || *trace_file.now_ns >= trace_file.to_ns)
		return;
	local_irq_save(flags);
	/* What prints an event may pass others, as of memory */
	if (!trace_file.busy) {
		trace_file.busy = true;
		if (trace_file.written < trace_file.most) {
			trace_file.written++;
			put_event((struct trace_entry *)entry);
		} else {
			trace_file.lost++;
		}
		trace_file.busy = false;
	}
	local_irq_restore(flags);
}

static struct trace_export to_file = {
	.write = write_event,
	.flags = TRACE_EXPORT_EVENT,
};

static u64 __init number(const char *name, u64 otherwise)
{
	const char *text = getenv(name);
	u64 value;

	return text && !kstrtoull(text, 10, &value) ? value : otherwise;
}

static void __init put_known(void)
{
	struct trace_event_call *call;

	list_for_each_entry(call, &ftrace_events, list)
		if (call->class->reg)
			put("has\t%s\t%s\n", call->class->system, trace_event_name(call));
}

static int __init set_events(char *text)
{
	char *one, *event;

	while ((one = strsep(&text, ","))) {
		event = strchr(one, ':');
		if (!event)
			return -EINVAL;
		*event++ = '\0';
		/* The file says what this kernel has */
		trace_set_clr_event(one, strcmp(event, "*") ? event : NULL, 1);
	}
	return 0;
}

static int __init start_trace_file(void)
{
	const char *file = getenv("FARPATH_TRACE_FILE"), *events = getenv("FARPATH_TRACE_EVENTS");
	struct trace_array *all = top_trace_array();
	char *text;

	trace_file.now_ns = (const u64 *)number("FARPATH_TRACE_CLOCK", 0);
	if (!file || !events || !trace_file.now_ns)
		return 0;
	trace_file.iter = kzalloc(sizeof(*trace_file.iter), GFP_KERNEL);
	text = kstrdup(events, GFP_KERNEL);
	if (!trace_file.iter || !text || !all)
		return -ENOMEM;
	/* Addresses are those that a debugger sees, in place of their hashes */
	trace_file.iter->tr = all;
	all->trace_flags &= ~TRACE_ITER(HASH_PTR);
	trace_file.iter->fmt = kmalloc(FORMAT_BYTES, GFP_KERNEL);
	trace_file.iter->fmt_size = trace_file.iter->fmt ? FORMAT_BYTES : 0;
	trace_file.from_ns = number("FARPATH_TRACE_FROM_NS", 0);
	trace_file.to_ns = number("FARPATH_TRACE_TO_NS", U64_MAX);
	trace_file.most = number("FARPATH_TRACE_MOST", U64_MAX);
	trace_file.file = os_open_file(file, of_create(of_trunc(of_write(OPENFLAGS()))), 0644);
	if (trace_file.file < 0)
		return trace_file.file;
	put_known();
	set_events(text);
	kfree(text);
	return register_ftrace_export(&to_file);
}
late_initcall_sync(start_trace_file);

static void end_trace_file(void)
{
	if (trace_file.file <= 0)
		return;
	trace_file.to_ns = 0;
	put("lost\t%llu\n", trace_file.lost);
	flush();
	os_close_file(trace_file.file);
}
__uml_exitcall(end_trace_file);
