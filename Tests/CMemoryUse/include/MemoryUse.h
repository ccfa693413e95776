// How much memory the process uses, as its allocators count it.
#ifndef MEMORY_USE_H
#define MEMORY_USE_H

#include <stdint.h>

// Bytes in use of `malloc`, over all threads: https://man7.org/linux/man-pages/man3/mallinfo.3.html
// 0 where another allocator stands in for it.
int64_t memory_use_of_malloc(void);

// Bytes in use of SQLite: https://www.sqlite.org/c3ref/memory_highwater.html
int64_t memory_use_of_sqlite(void);

#endif
