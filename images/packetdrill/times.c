// times(2) for packetdrill in the lab, to be preloaded.
//
// packetdrill finds the edge of a tick by asking times(2) until its answer changes
// (schedule_start_time_usecs in run.c). The lab's virtual clock does not move while a
// program computes, and that call reads no clock: it would ask for ever. This one sleeps
// for a millisecond, which lets the clock go on, before it answers.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

clock_t times(struct tms *buffer) {
    const struct timespec moment = {.tv_nsec = 1000000};
    nanosleep(&moment, NULL);
    return syscall(SYS_times, buffer);
}
