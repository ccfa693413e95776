#include "FaultMalloc.h"

#include <sqlite3.h>
#include <stdatomic.h>

static sqlite3_mem_methods real;
static _Atomic int64_t nth;
static _Atomic int64_t count;
static _Atomic int64_t failures;
static _Atomic int64_t blocks;
static _Atomic int sticky;

static int fails(void) {
    int64_t target = atomic_load(&nth);
    if (target == 0) return 0;
    int64_t number = atomic_fetch_add(&count, 1) + 1;
    if (number != target && !(number > target && atomic_load(&sticky))) return 0;
    atomic_fetch_add(&failures, 1);
    return 1;
}

static void *fault_allocate(int size) {
    if (fails()) return 0;
    void *memory = real.xMalloc(size);
    if (memory) atomic_fetch_add(&blocks, 1);
    return memory;
}

static void *fault_reallocate(void *memory, int size) { return fails() ? 0 : real.xRealloc(memory, size); }

static void fault_release(void *memory) {
    if (memory) atomic_fetch_sub(&blocks, 1);
    real.xFree(memory);
}

int fault_malloc_install(void) {
    int code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
    if (code != SQLITE_OK) return code;
    sqlite3_mem_methods methods = real;
    methods.xMalloc = fault_allocate;
    methods.xRealloc = fault_reallocate;
    methods.xFree = fault_release;
    code = sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    if (code != SQLITE_OK) return code;
    code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1);
    if (code != SQLITE_OK) return code;
    return sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
}

void fault_malloc_arm(int64_t new_nth, int new_sticky) {
    atomic_store(&nth, 0);
    atomic_store(&count, 0);
    atomic_store(&failures, 0);
    atomic_store(&sticky, new_sticky);
    atomic_store(&nth, new_nth);
}

void fault_malloc_disarm(void) { atomic_store(&nth, 0); }

int64_t fault_malloc_failures(void) { return atomic_load(&failures); }

int64_t fault_malloc_bytes_in_use(void) { return sqlite3_memory_used(); }

int64_t fault_malloc_blocks_in_use(void) { return atomic_load(&blocks); }
