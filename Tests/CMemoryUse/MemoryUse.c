#include "MemoryUse.h"

#include <sqlite3.h>

#if defined(__GLIBC__)
#include <malloc.h>

int64_t memory_use_of_malloc(void) {
    // Blocks that are kept for the next use, and pages at the end of heaps, aren't leaks.
    malloc_trim(0);
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
}
#else
int64_t memory_use_of_malloc(void) { return 0; }
#endif

int64_t memory_use_of_sqlite(void) { return sqlite3_memory_used(); }
