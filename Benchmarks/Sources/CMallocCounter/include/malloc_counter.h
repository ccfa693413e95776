// Counts allocations and the bytes they keep, by taking the place of the C library's allocation functions in the
// executable.
#ifndef MALLOC_COUNTER_H
#define MALLOC_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

// Whether this platform can count at all. Elsewhere the count stays 0.
bool malloc_counter_is_available(void);

// Sets the counts to 0 and counts from here on, on all threads.
void malloc_counter_start(void);

// Stops counting and returns how many blocks were asked for: malloc, calloc, realloc and the aligned forms.
uint64_t malloc_counter_stop(void);

// The bytes of the blocks that were asked for since counting began, less those of the blocks that were freed since. A
// block counts as many bytes as its user may use, without malloc's own.
int64_t malloc_counter_live_bytes(void);

#endif
