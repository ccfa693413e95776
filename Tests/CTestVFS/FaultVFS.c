#include "FaultVFS.h"

#include <stdlib.h>
#include <string.h>

#include "OverlayVFS.h"

enum { DAMAGES_COUNT = 64 };

// Bytes that can't be read.
typedef struct {
    char *path;
    int64_t offset;
    int64_t count;
} damage;

// The path of an open database, journal or log, which SQLite keeps while it is open. NULL for other files.
typedef struct {
    const char *path;
} fault_file;

struct fault_vfs {
    overlay_vfs base;
    pthread_mutex_t mutex;
    uint32_t mask;
    int64_t nth;
    int64_t count;
    int64_t failures;
    int code;
    int sticky;
    int damage_count;
    damage damages[DAMAGES_COUNT];
};

// What an operation has to answer: SQLITE_OK to go on.
static int fault(fault_vfs *vfs, uint32_t operation, int own_code) {
    int code = SQLITE_OK;
    pthread_mutex_lock(&vfs->mutex);
    if (vfs->mask & operation) {
        vfs->count += 1;
        if (vfs->count == vfs->nth || (vfs->sticky && vfs->count > vfs->nth)) {
            vfs->failures += 1;
            code = vfs->code != 0 ? vfs->code : own_code;
        }
    }
    pthread_mutex_unlock(&vfs->mutex);
    return code;
}

// MARK: - Files

// Whether some of these bytes can't be read.
static int is_damaged(fault_vfs *vfs, sqlite3_file *file, int count, sqlite3_int64 offset) {
    const char *path = ((fault_file *)overlay_bytes(&vfs->base, file))->path;
    int found = 0;
    if (path == NULL) return 0;
    pthread_mutex_lock(&vfs->mutex);
    for (int i = 0; i < vfs->damage_count && !found; i++) {
        damage *damage = &vfs->damages[i];
        found = offset < damage->offset + damage->count && damage->offset < offset + count
            && strcmp(path, damage->path) == 0;
    }
    pthread_mutex_unlock(&vfs->mutex);
    return found;
}

static int file_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
    int code = fault(overlay_of(file), FAULT_READ, SQLITE_IOERR_READ);
    if (code == SQLITE_OK && is_damaged(overlay_of(file), file, count, offset)) return SQLITE_IOERR_READ;
    if (code == SQLITE_OK) return original(file)->xRead(file, buffer, count, offset);
    int half = count / 2;
    if (half > 0) original(file)->xRead(file, buffer, half, offset);
    // After SQLITE_IOERR_SHORT_READ the rest counts as zeros: https://www.sqlite.org/c3ref/io_methods.html
    memset((char *)buffer + half, code == SQLITE_IOERR_SHORT_READ ? 0 : 0xA5, (size_t)(count - half));
    return code;
}

static int file_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
    int code = fault(overlay_of(file), FAULT_WRITE, SQLITE_IOERR_WRITE);
    if (code == SQLITE_OK) return original(file)->xWrite(file, buffer, count, offset);
    if (count > 1) original(file)->xWrite(file, buffer, count / 2, offset);
    return code;
}

// Runs an operation of a file, or fails.
#define UNLESS_FAULT(operation, own_code, call) \
    do { \
        int code = fault(overlay_of(file), (operation), (own_code)); \
        return code != SQLITE_OK ? code : original(file)->call; \
    } while (0)

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    UNLESS_FAULT(FAULT_TRUNCATE, SQLITE_IOERR_TRUNCATE, xTruncate(file, size));
}

static int file_sync(sqlite3_file *file, int flags) {
    UNLESS_FAULT(FAULT_SYNC, SQLITE_IOERR_FSYNC, xSync(file, flags));
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    UNLESS_FAULT(FAULT_SIZE, SQLITE_IOERR_FSTAT, xFileSize(file, size));
}

static int file_lock(sqlite3_file *file, int lock) {
    UNLESS_FAULT(FAULT_LOCK, SQLITE_IOERR_LOCK, xLock(file, lock));
}

static int file_check_reserved_lock(sqlite3_file *file, int *result) {
    UNLESS_FAULT(FAULT_LOCK, SQLITE_IOERR_CHECKRESERVEDLOCK, xCheckReservedLock(file, result));
}

static int file_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **memory) {
    UNLESS_FAULT(FAULT_SHARED_MEMORY, SQLITE_IOERR_SHMMAP, xShmMap(file, region, size, extend, memory));
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    // Giving a lock back always works.
    if (flags & SQLITE_SHM_UNLOCK) return original(file)->xShmLock(file, offset, count, flags);
    UNLESS_FAULT(FAULT_SHARED_MEMORY, SQLITE_IOERR_SHMLOCK, xShmLock(file, offset, count, flags));
}

static void replace(sqlite3_io_methods *methods) {
    // Version 2: without memory mapping, all that is read and written passes here.
    methods->iVersion = 2;
    methods->xRead = file_read;
    methods->xWrite = file_write;
    methods->xTruncate = file_truncate;
    methods->xSync = file_sync;
    methods->xFileSize = file_size;
    methods->xLock = file_lock;
    methods->xCheckReservedLock = file_check_reserved_lock;
    // Files that can't share memory have none of these: SQLite asks.
    if (methods->xShmMap != NULL) {
        methods->xShmMap = file_shm_map;
        methods->xShmLock = file_shm_lock;
    }
}

// MARK: - The file system

static int vfs_open(sqlite3_vfs *base, const char *path, sqlite3_file *file, int flags, int *out_flags) {
    file->pMethods = NULL;
    int code = fault((fault_vfs *)base, FAULT_OPEN, SQLITE_CANTOPEN);
    if (code != SQLITE_OK) return code;
    int keeps = flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL);
    ((fault_file *)overlay_bytes((overlay_vfs *)base, file))->path = keeps ? path : NULL;
    return overlay_open((overlay_vfs *)base, path, file, flags, out_flags);
}

static int vfs_delete(sqlite3_vfs *base, const char *path, int sync) {
    sqlite3_vfs *real = ((overlay_vfs *)base)->real;
    int code = fault((fault_vfs *)base, FAULT_DELETE, SQLITE_IOERR_DELETE);
    return code != SQLITE_OK ? code : real->xDelete(real, path, sync);
}

static int vfs_access(sqlite3_vfs *base, const char *path, int flags, int *result) {
    sqlite3_vfs *real = ((overlay_vfs *)base)->real;
    int code = fault((fault_vfs *)base, FAULT_ACCESS, SQLITE_IOERR_ACCESS);
    return code != SQLITE_OK ? code : real->xAccess(real, path, flags, result);
}

fault_vfs *fault_vfs_register(const char *name) {
    fault_vfs *vfs = overlay_create(sizeof(fault_vfs), sizeof(fault_file), name, replace);
    if (vfs == NULL) return NULL;
    pthread_mutex_init(&vfs->mutex, NULL);
    vfs->base.base.xOpen = vfs_open;
    vfs->base.base.xDelete = vfs_delete;
    vfs->base.base.xAccess = vfs_access;
    return overlay_register(vfs);
}

void fault_vfs_arm(fault_vfs *vfs, uint32_t mask, int64_t nth, int code, int sticky) {
    pthread_mutex_lock(&vfs->mutex);
    vfs->mask = mask;
    vfs->nth = nth;
    vfs->count = 0;
    vfs->failures = 0;
    vfs->code = code;
    vfs->sticky = sticky;
    pthread_mutex_unlock(&vfs->mutex);
}

void fault_vfs_damage(fault_vfs *vfs, const char *path, int64_t offset, int64_t count) {
    pthread_mutex_lock(&vfs->mutex);
    char *own_path = vfs->damage_count < DAMAGES_COUNT ? strdup(path) : NULL;
    if (own_path != NULL) vfs->damages[vfs->damage_count++] = (damage){own_path, offset, count};
    pthread_mutex_unlock(&vfs->mutex);
}

void fault_vfs_repair(fault_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    while (vfs->damage_count > 0) free(vfs->damages[--vfs->damage_count].path);
    pthread_mutex_unlock(&vfs->mutex);
}

void fault_vfs_disarm(fault_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    vfs->mask = 0;
    pthread_mutex_unlock(&vfs->mutex);
}

int64_t fault_vfs_count(fault_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    int64_t count = vfs->count;
    pthread_mutex_unlock(&vfs->mutex);
    return count;
}

int64_t fault_vfs_failures(fault_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    int64_t failures = vfs->failures;
    pthread_mutex_unlock(&vfs->mutex);
    return failures;
}
