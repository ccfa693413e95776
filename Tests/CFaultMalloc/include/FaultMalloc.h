// SQLite's allocator, made to fail on demand: https://www.sqlite.org/malloc.html
#ifndef FAULT_MALLOC_H
#define FAULT_MALLOC_H

#include <stdint.h>

// Puts the allocator in place, for the whole process, and switches lookaside memory off, so that each allocation
// passes here. Before anything else uses SQLite; answers SQLite's code.
int fault_malloc_install(void);

// Fails the nth allocation from now, from 1; with `sticky`, all that follow too.
void fault_malloc_arm(int64_t nth, int sticky);

// Lets all allocations succeed.
void fault_malloc_disarm(void);

// The number of allocations that were made to fail since it was armed.
int64_t fault_malloc_failures(void);

// The bytes that SQLite has allocated and not freed.
int64_t fault_malloc_bytes_in_use(void);

// The allocations that SQLite has not freed.
int64_t fault_malloc_blocks_in_use(void);

#endif
