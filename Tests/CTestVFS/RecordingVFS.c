#include "RecordingVFS.h"

#include <stdlib.h>
#include <string.h>

#include "OverlayVFS.h"

// A file that has a name now, or had one: then `name` is NULL.
typedef struct {
    char *name;
} named_file;

struct recording_vfs {
    overlay_vfs base;
    // Held during an operation and its record: the order of the records is that of what happened.
    pthread_mutex_t mutex;
    record *records;
    int64_t record_count;
    int64_t record_capacity;
    named_file *files;
    int64_t file_count;
    int is_over;
};

// What a file has of its own.
typedef struct {
    // -1 for a file without a name, which nobody finds again.
    int64_t number;
    // Whether the next sync is the folder's too, as with new journals: `unixSync` of SQLite's os_unix.c.
    int syncs_folder;
} recorded_file;

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

// Runs an operation of a file, and records it if it succeeds.
#define RECORDED(operation, ...) \
    do { \
        recording_vfs *vfs = overlay_of(file); \
        recorded_file *recorded = overlay_bytes(&vfs->base, file); \
        pthread_mutex_lock(&vfs->mutex); \
        int code = original(file)->operation; \
        if (code == SQLITE_OK && recorded->number >= 0) { __VA_ARGS__ } \
        pthread_mutex_unlock(&vfs->mutex); \
        return code; \
    } while (0)

static int file_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
    RECORDED(
        xWrite(file, buffer, count, offset),
        append(
            vfs,
            (record){
                .kind = RECORD_WRITE, .file = recorded->number, .offset = offset, .count = count, .bytes = buffer}););
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    RECORDED(
        xTruncate(file, size),
        append(vfs, (record){.kind = RECORD_TRUNCATE, .file = recorded->number, .offset = size}););
}

static int file_sync(sqlite3_file *file, int flags) {
    RECORDED(
        xSync(file, flags), append(vfs, (record){.kind = RECORD_SYNC, .file = recorded->number});
        if (recorded->syncs_folder) {
            append(vfs, (record){.kind = RECORD_SYNC_FOLDER});
            recorded->syncs_folder = 0;
        });
}

static void replace(sqlite3_io_methods *methods) {
    // Version 2: without memory mapping, all that is written passes here.
    methods->iVersion = 2;
    methods->xWrite = file_write;
    methods->xTruncate = file_truncate;
    methods->xSync = file_sync;
}

// MARK: - The file system

static int vfs_open(sqlite3_vfs *base, const char *path, sqlite3_file *file, int flags, int *out_flags) {
    recording_vfs *vfs = (recording_vfs *)base;
    recorded_file *recorded = overlay_bytes(&vfs->base, file);
    *recorded = (recorded_file){.number = -1};
    pthread_mutex_lock(&vfs->mutex);
    int code = overlay_open(&vfs->base, path, file, flags, out_flags);
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
    recording_vfs *vfs = (recording_vfs *)base;
    sqlite3_vfs *real = vfs->base.real;
    pthread_mutex_lock(&vfs->mutex);
    int code = real->xDelete(real, path, syncs_folder);
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

recording_vfs *recording_vfs_register(const char *name) {
    recording_vfs *vfs = overlay_create(sizeof(recording_vfs), sizeof(recorded_file), name, replace);
    if (vfs == NULL) return NULL;
    pthread_mutex_init(&vfs->mutex, NULL);
    vfs->base.base.xOpen = vfs_open;
    vfs->base.base.xDelete = vfs_delete;
    return overlay_register(vfs);
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
