#include "malloc_counter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// Neither flag nor counter is thread-local: the first access to a thread-local may itself allocate.
static atomic_bool counting;
static atomic_uint_fast64_t count;

void malloc_counter_start(void) {
    atomic_store(&count, 0);
    atomic_store(&counting, true);
}

uint64_t malloc_counter_stop(void) {
    atomic_store(&counting, false);
    return atomic_load(&count);
}

#if defined(__GLIBC__)

bool malloc_counter_is_available(void) { return true; }

// A program may define `malloc` and its kin for itself; glibc's own functions stay reachable under these names.
// https://www.gnu.org/software/libc/manual/html_node/Replacing-malloc.html
// `free` isn't replaced: every block comes from glibc's heap.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static inline void note_allocation(void) {
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

#define REPLACEMENT __attribute__((visibility("default"), used))

REPLACEMENT void *malloc(size_t size) {
    note_allocation();
    return __libc_malloc(size);
}

REPLACEMENT void *calloc(size_t number, size_t size) {
    note_allocation();
    return __libc_calloc(number, size);
}

REPLACEMENT void *realloc(void *block, size_t size) {
    note_allocation();
    return __libc_realloc(block, size);
}

REPLACEMENT void *memalign(size_t alignment, size_t size) {
    note_allocation();
    return __libc_memalign(alignment, size);
}

REPLACEMENT void *aligned_alloc(size_t alignment, size_t size) {
    note_allocation();
    return __libc_memalign(alignment, size);
}

REPLACEMENT int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    note_allocation();
    void *result = __libc_memalign(alignment, size);
    if (result == NULL)
        return ENOMEM;
    *block = result;
    return 0;
}

#else

bool malloc_counter_is_available(void) { return false; }

#endif
