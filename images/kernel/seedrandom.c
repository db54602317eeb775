// SPDX-License-Identifier: BSD-3-Clause
/*
 * Seeded randomness for a User Mode Linux kernel.
 *
 * A UML kernel takes the entropy of its guest from the getrandom() of libc.
 * Preloaded into the UML process (LD_PRELOAD), this library answers instead
 * with a stream that $FARPATH_SEED, a decimal number below 2^64, decides alone.
 * Initial sequence numbers, ports and hash keys then follow from the seed, and
 * a run on virtual time can be repeated packet by packet.
 *
 * The stream is SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014, doi:10.1145/2660193.2660195.
 * Each call starts at a fresh 64-bit word. It is no source of secrets, and it is
 * not thread safe: a UML kernel without SMP calls it from one thread.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15u

static uint64_t seed_from_environment(void)
{
	const char *text = getenv("FARPATH_SEED");
	char *end = NULL;
	uint64_t seed = 0;

	errno = 0;
	if (text && isdigit((unsigned char)text[0]))
		seed = strtoull(text, &end, 10);
	if (!end || *end != '\0' || errno) {
		fprintf(stderr,
			"seedrandom: FARPATH_SEED is %s%s%s; it must be a decimal number below 2^64\n",
			text ? "'" : "", text ? text : "not set", text ? "'" : "");
		abort();
	}
	return seed;
}

static uint64_t next_word(void)
{
	static bool seeded;
	static uint64_t state;
	uint64_t z;

	if (!seeded) {
		state = seed_from_environment();
		seeded = true;
	}
	z = state += GOLDEN_GAMMA;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buffer, size_t size, unsigned int flags)
{
	unsigned char *out = buffer;

	(void)flags;
	for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
		uint64_t word = next_word();
		size_t left = size - done;

		memcpy(out + done, &word, left < sizeof(word) ? left : sizeof(word));
	}
	return (ssize_t)size;
}
