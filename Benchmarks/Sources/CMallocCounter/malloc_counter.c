#include "malloc_counter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// Neither flag nor counter is thread-local: the first access to a thread-local may itself allocate.
static atomic_bool counting;
static atomic_uint_fast64_t count;
static atomic_int_fast64_t live_bytes;

void malloc_counter_start(void) {
    atomic_store(&count, 0);
    atomic_store(&live_bytes, 0);
    atomic_store(&counting, true);
}

uint64_t malloc_counter_stop(void) {
    atomic_store(&counting, false);
    return atomic_load(&count);
}

int64_t malloc_counter_live_bytes(void) {
    return atomic_load(&live_bytes);
}

#if defined(__GLIBC__)

#include <malloc.h>

bool malloc_counter_is_available(void) { return true; }

// A program may define `malloc` and its kin for itself; glibc's own functions stay reachable under these names.
// https://www.gnu.org/software/libc/manual/html_node/Replacing-malloc.html
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static inline bool is_counting(void) {
    return atomic_load_explicit(&counting, memory_order_relaxed);
}

static inline void note_live(void *block, int sign) {
    atomic_fetch_add_explicit(&live_bytes, sign * (int64_t)malloc_usable_size(block), memory_order_relaxed);
}

static inline void *note_allocation(void *block) {
    if (is_counting()) {
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
        note_live(block, 1);
    }
    return block;
}

#define REPLACEMENT __attribute__((visibility("default"), used))

REPLACEMENT void *malloc(size_t size) {
    return note_allocation(__libc_malloc(size));
}

REPLACEMENT void *calloc(size_t number, size_t size) {
    return note_allocation(__libc_calloc(number, size));
}

REPLACEMENT void *realloc(void *block, size_t size) {
    bool counts = is_counting();
    int64_t old_size = counts ? (int64_t)malloc_usable_size(block) : 0;
    void *result = __libc_realloc(block, size);
    // Where it fails, the old block stays.
    if (counts && (result != NULL || size == 0)) {
        atomic_fetch_add_explicit(&live_bytes, -old_size, memory_order_relaxed);
        note_allocation(result);
    }
    return result;
}

REPLACEMENT void free(void *block) {
    if (is_counting())
        note_live(block, -1);
    __libc_free(block);
}

REPLACEMENT void *memalign(size_t alignment, size_t size) {
    return note_allocation(__libc_memalign(alignment, size));
}

REPLACEMENT void *aligned_alloc(size_t alignment, size_t size) {
    return note_allocation(__libc_memalign(alignment, size));
}

REPLACEMENT int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void *result = note_allocation(__libc_memalign(alignment, size));
    if (result == NULL)
        return ENOMEM;
    *block = result;
    return 0;
}

#else

bool malloc_counter_is_available(void) { return false; }

#endif
