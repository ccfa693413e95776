#include "FaultVFS.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct fault_vfs {
    sqlite3_vfs base;
    sqlite3_vfs *real;
    pthread_mutex_t mutex;
    uint32_t mask;
    int64_t nth;
    int64_t count;
    int64_t failures;
    int code;
    int sticky;
    char name[];
};

// The real file follows.
typedef struct {
    sqlite3_file base;
    fault_vfs *vfs;
} fault_file;

static sqlite3_file *real_file(sqlite3_file *file) { return (sqlite3_file *)((fault_file *)file + 1); }

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

#define FAULT(file, operation, own_code) \
    do { \
        int code = fault(((fault_file *)(file))->vfs, (operation), (own_code)); \
        if (code != SQLITE_OK) return code; \
    } while (0)

// MARK: - Files

static int file_close(sqlite3_file *file) {
    sqlite3_file *real = real_file(file);
    return real->pMethods->xClose(real);
}

static int file_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
    sqlite3_file *real = real_file(file);
    int code = fault(((fault_file *)file)->vfs, FAULT_READ, SQLITE_IOERR_READ);
    if (code == SQLITE_OK) return real->pMethods->xRead(real, buffer, count, offset);
    int half = count / 2;
    if (half > 0) real->pMethods->xRead(real, buffer, half, offset);
    // After SQLITE_IOERR_SHORT_READ the rest counts as zeros: https://www.sqlite.org/c3ref/io_methods.html
    memset((char *)buffer + half, code == SQLITE_IOERR_SHORT_READ ? 0 : 0xA5, (size_t)(count - half));
    return code;
}

static int file_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
    sqlite3_file *real = real_file(file);
    int code = fault(((fault_file *)file)->vfs, FAULT_WRITE, SQLITE_IOERR_WRITE);
    if (code != SQLITE_OK) {
        if (count > 1) real->pMethods->xWrite(real, buffer, count / 2, offset);
        return code;
    }
    return real->pMethods->xWrite(real, buffer, count, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    FAULT(file, FAULT_TRUNCATE, SQLITE_IOERR_TRUNCATE);
    sqlite3_file *real = real_file(file);
    return real->pMethods->xTruncate(real, size);
}

static int file_sync(sqlite3_file *file, int flags) {
    FAULT(file, FAULT_SYNC, SQLITE_IOERR_FSYNC);
    sqlite3_file *real = real_file(file);
    return real->pMethods->xSync(real, flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    FAULT(file, FAULT_SIZE, SQLITE_IOERR_FSTAT);
    sqlite3_file *real = real_file(file);
    return real->pMethods->xFileSize(real, size);
}

static int file_lock(sqlite3_file *file, int lock) {
    FAULT(file, FAULT_LOCK, SQLITE_IOERR_LOCK);
    sqlite3_file *real = real_file(file);
    return real->pMethods->xLock(real, lock);
}

static int file_unlock(sqlite3_file *file, int lock) {
    sqlite3_file *real = real_file(file);
    return real->pMethods->xUnlock(real, lock);
}

static int file_check_reserved_lock(sqlite3_file *file, int *result) {
    FAULT(file, FAULT_LOCK, SQLITE_IOERR_CHECKRESERVEDLOCK);
    sqlite3_file *real = real_file(file);
    return real->pMethods->xCheckReservedLock(real, result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    sqlite3_file *real = real_file(file);
    return real->pMethods->xFileControl(real, operation, argument);
}

static int file_sector_size(sqlite3_file *file) {
    sqlite3_file *real = real_file(file);
    return real->pMethods->xSectorSize(real);
}

static int file_device_characteristics(sqlite3_file *file) {
    sqlite3_file *real = real_file(file);
    return real->pMethods->xDeviceCharacteristics(real);
}

static int file_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **memory) {
    FAULT(file, FAULT_SHARED_MEMORY, SQLITE_IOERR_SHMMAP);
    sqlite3_file *real = real_file(file);
    return real->pMethods->xShmMap(real, region, size, extend, memory);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    // Giving a lock back always works.
    if (flags & SQLITE_SHM_LOCK) FAULT(file, FAULT_SHARED_MEMORY, SQLITE_IOERR_SHMLOCK);
    sqlite3_file *real = real_file(file);
    return real->pMethods->xShmLock(real, offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *file) {
    sqlite3_file *real = real_file(file);
    real->pMethods->xShmBarrier(real);
}

static int file_shm_unmap(sqlite3_file *file, int delete) {
    sqlite3_file *real = real_file(file);
    return real->pMethods->xShmUnmap(real, delete);
}

// Version 2: without memory mapping, all that is read and written passes here.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_device_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

// MARK: - The file system

static fault_vfs *self(sqlite3_vfs *vfs) { return (fault_vfs *)vfs; }

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    fault_file *wrapper = (fault_file *)file;
    wrapper->base.pMethods = NULL;
    wrapper->vfs = self(vfs);
    int code = fault(self(vfs), FAULT_OPEN, SQLITE_CANTOPEN);
    if (code != SQLITE_OK) return code;
    sqlite3_file *real = real_file(file);
    code = self(vfs)->real->xOpen(self(vfs)->real, name, real, flags, out_flags);
    if (real->pMethods != NULL) wrapper->base.pMethods = &methods;
    return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    int code = fault(self(vfs), FAULT_DELETE, SQLITE_IOERR_DELETE);
    return code != SQLITE_OK ? code : self(vfs)->real->xDelete(self(vfs)->real, name, sync);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    int code = fault(self(vfs), FAULT_ACCESS, SQLITE_IOERR_ACCESS);
    return code != SQLITE_OK ? code : self(vfs)->real->xAccess(self(vfs)->real, name, flags, result);
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int count, char *result) {
    return self(vfs)->real->xFullPathname(self(vfs)->real, name, count, result);
}

static int vfs_randomness(sqlite3_vfs *vfs, int count, char *bytes) {
    return self(vfs)->real->xRandomness(self(vfs)->real, count, bytes);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    return self(vfs)->real->xSleep(self(vfs)->real, microseconds);
}

static int vfs_current_time(sqlite3_vfs *vfs, double *time) {
    return self(vfs)->real->xCurrentTime(self(vfs)->real, time);
}

static int vfs_current_time_int64(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    return self(vfs)->real->xCurrentTimeInt64(self(vfs)->real, time);
}

static int vfs_last_error(sqlite3_vfs *vfs, int count, char *message) {
    return self(vfs)->real->xGetLastError(self(vfs)->real, count, message);
}

fault_vfs *fault_vfs_register(const char *name) {
    if (sqlite3_initialize() != SQLITE_OK) return NULL;
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    fault_vfs *vfs = calloc(1, sizeof(fault_vfs) + strlen(name) + 1);
    if (real == NULL || vfs == NULL) {
        free(vfs);
        return NULL;
    }
    strcpy(vfs->name, name);
    vfs->real = real;
    pthread_mutex_init(&vfs->mutex, NULL);
    vfs->base = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(fault_file) + real->szOsFile,
        .mxPathname = real->mxPathname,
        .zName = vfs->name,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_current_time,
        .xGetLastError = vfs_last_error,
        .xCurrentTimeInt64 = vfs_current_time_int64,
    };
    sqlite3_vfs_register(&vfs->base, 0);
    return vfs;
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
