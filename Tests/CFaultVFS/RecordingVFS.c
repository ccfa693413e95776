#include "RecordingVFS.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// A file that has a name now, or had one: then `name` is NULL.
typedef struct {
    char *name;
} named_file;

struct recording_vfs {
    sqlite3_vfs base;
    sqlite3_vfs *real;
    // Held during an operation and its record: the order of the records is that of what happened.
    pthread_mutex_t mutex;
    record *records;
    int64_t record_count;
    int64_t record_capacity;
    named_file *files;
    int64_t file_count;
    int is_over;
    char name[];
};

// The real file follows.
typedef struct {
    sqlite3_file base;
    recording_vfs *vfs;
    // -1 for a file without a name, which nobody finds again.
    int64_t number;
    // Whether the next sync is the folder's too, as with new journals: `unixSync` of SQLite's os_unix.c.
    int syncs_folder;
} recorded_file;

static recording_vfs *self(sqlite3_vfs *vfs) { return (recording_vfs *)vfs; }

static recorded_file *wrapper(sqlite3_file *file) { return (recorded_file *)file; }

static sqlite3_file *real_file(sqlite3_file *file) { return (sqlite3_file *)(wrapper(file) + 1); }

static const char *last_component(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

// Memory that a test lacks is no case to go on from.
static void *checked(void *memory) {
    if (memory == NULL) abort();
    return memory;
}

static void append(recording_vfs *vfs, record new_record) {
    if (vfs->is_over) return;
    if (vfs->record_count == vfs->record_capacity) {
        vfs->record_capacity = vfs->record_capacity * 2 + 256;
        vfs->records = checked(realloc(vfs->records, (size_t)vfs->record_capacity * sizeof(record)));
    }
    if (new_record.name != NULL) new_record.name = checked(strdup(new_record.name));
    if (new_record.bytes != NULL) {
        uint8_t *copy = checked(malloc((size_t)new_record.count));
        memcpy(copy, new_record.bytes, (size_t)new_record.count);
        new_record.bytes = copy;
    }
    vfs->records[vfs->record_count++] = new_record;
}

static int64_t find(recording_vfs *vfs, const char *name) {
    for (int64_t i = 0; i < vfs->file_count; i++) {
        if (vfs->files[i].name != NULL && strcmp(vfs->files[i].name, name) == 0) return i;
    }
    return -1;
}

// MARK: - Files

static int file_close(sqlite3_file *file) {
    sqlite3_file *real = real_file(file);
    return real->pMethods->xClose(real);
}

static int file_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
    sqlite3_file *real = real_file(file);
    return real->pMethods->xRead(real, buffer, count, offset);
}

// Runs an operation of a file, and records it if it succeeds.
#define RECORDED(file, operation, ...) \
    do { \
        recording_vfs *vfs = wrapper(file)->vfs; \
        sqlite3_file *real = real_file(file); \
        pthread_mutex_lock(&vfs->mutex); \
        int code = real->pMethods->operation; \
        if (code == SQLITE_OK && wrapper(file)->number >= 0) { __VA_ARGS__ } \
        pthread_mutex_unlock(&vfs->mutex); \
        return code; \
    } while (0)

static int file_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
    RECORDED(
        file, xWrite(real, buffer, count, offset),
        append(vfs, (record){.kind = RECORD_WRITE, .file = wrapper(file)->number, .offset = offset, .count = count, .bytes = buffer}););
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    RECORDED(
        file, xTruncate(real, size),
        append(vfs, (record){.kind = RECORD_TRUNCATE, .file = wrapper(file)->number, .offset = size}););
}

static int file_sync(sqlite3_file *file, int flags) {
    RECORDED(
        file, xSync(real, flags), append(vfs, (record){.kind = RECORD_SYNC, .file = wrapper(file)->number});
        if (wrapper(file)->syncs_folder) {
            append(vfs, (record){.kind = RECORD_SYNC_FOLDER});
            wrapper(file)->syncs_folder = 0;
        });
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    sqlite3_file *real = real_file(file);
    return real->pMethods->xFileSize(real, size);
}

static int file_lock(sqlite3_file *file, int lock) {
    sqlite3_file *real = real_file(file);
    return real->pMethods->xLock(real, lock);
}

static int file_unlock(sqlite3_file *file, int lock) {
    sqlite3_file *real = real_file(file);
    return real->pMethods->xUnlock(real, lock);
}

static int file_check_reserved_lock(sqlite3_file *file, int *result) {
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
    sqlite3_file *real = real_file(file);
    return real->pMethods->xShmMap(real, region, size, extend, memory);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
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

// Version 2: without memory mapping, all that is written passes here.
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

static int vfs_open(sqlite3_vfs *base, const char *path, sqlite3_file *file, int flags, int *out_flags) {
    recording_vfs *vfs = self(base);
    recorded_file *recorded = wrapper(file);
    recorded->base.pMethods = NULL;
    recorded->vfs = vfs;
    recorded->number = -1;
    recorded->syncs_folder = 0;
    sqlite3_file *real = real_file(file);
    pthread_mutex_lock(&vfs->mutex);
    int code = vfs->real->xOpen(vfs->real, path, real, flags, out_flags);
    if (real->pMethods != NULL) recorded->base.pMethods = &methods;
    const int journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
    if (code == SQLITE_OK && path != NULL && (flags & (SQLITE_OPEN_MAIN_DB | journals))) {
        const char *name = last_component(path);
        recorded->number = find(vfs, name);
        recorded->syncs_folder = (flags & SQLITE_OPEN_CREATE) && (flags & journals);
        if (recorded->number < 0) {
            recorded->number = vfs->file_count;
            vfs->files = checked(realloc(vfs->files, (size_t)(vfs->file_count + 1) * sizeof(named_file)));
            vfs->files[vfs->file_count++].name = checked(strdup(name));
            append(vfs, (record){.kind = RECORD_CREATE, .file = recorded->number, .name = name});
        }
    }
    pthread_mutex_unlock(&vfs->mutex);
    return code;
}

static int vfs_delete(sqlite3_vfs *base, const char *path, int syncs_folder) {
    recording_vfs *vfs = self(base);
    pthread_mutex_lock(&vfs->mutex);
    int code = vfs->real->xDelete(vfs->real, path, syncs_folder);
    if (code == SQLITE_OK) {
        const char *name = last_component(path);
        int64_t number = find(vfs, name);
        if (number >= 0) {
            append(vfs, (record){.kind = RECORD_DELETE, .file = number, .name = name});
            free(vfs->files[number].name);
            vfs->files[number].name = NULL;
        }
        if (syncs_folder) append(vfs, (record){.kind = RECORD_SYNC_FOLDER});
    }
    pthread_mutex_unlock(&vfs->mutex);
    return code;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    return self(vfs)->real->xAccess(self(vfs)->real, path, flags, result);
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *path, int count, char *result) {
    return self(vfs)->real->xFullPathname(self(vfs)->real, path, count, result);
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

recording_vfs *recording_vfs_register(const char *name) {
    if (sqlite3_initialize() != SQLITE_OK) return NULL;
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    recording_vfs *vfs = calloc(1, sizeof(recording_vfs) + strlen(name) + 1);
    if (real == NULL || vfs == NULL) {
        free(vfs);
        return NULL;
    }
    strcpy(vfs->name, name);
    vfs->real = real;
    pthread_mutex_init(&vfs->mutex, NULL);
    vfs->base = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(recorded_file) + real->szOsFile,
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

// MARK: - Records

void recording_vfs_mark(recording_vfs *vfs, int64_t number) {
    pthread_mutex_lock(&vfs->mutex);
    append(vfs, (record){.kind = RECORD_MARK, .file = number});
    pthread_mutex_unlock(&vfs->mutex);
}

int64_t recording_vfs_count(recording_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    int64_t count = vfs->record_count;
    pthread_mutex_unlock(&vfs->mutex);
    return count;
}

record recording_vfs_record(recording_vfs *vfs, int64_t index) {
    pthread_mutex_lock(&vfs->mutex);
    record found = vfs->records[index];
    pthread_mutex_unlock(&vfs->mutex);
    return found;
}

void recording_vfs_forget(recording_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    for (int64_t i = 0; i < vfs->record_count; i++) {
        free((void *)vfs->records[i].name);
        free((void *)vfs->records[i].bytes);
    }
    free(vfs->records);
    vfs->records = NULL;
    vfs->record_count = vfs->record_capacity = 0;
    vfs->is_over = 1;
    pthread_mutex_unlock(&vfs->mutex);
}
