#include "StallVFS.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// The methods of files whose syncs may wait. A file of the default VFS gets them in the place of its own, which are a
// copy but for one: it stays the file that it was.
typedef struct {
    sqlite3_io_methods base;
    const sqlite3_io_methods *original;
    stall_vfs *vfs;
} stall_methods;

// The default VFS has a few tables of methods, for kinds of locks.
enum { METHODS_COUNT = 16 };

struct stall_vfs {
    sqlite3_vfs base;
    sqlite3_vfs *real;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int is_stalled;
    int64_t waiting;
    stall_methods methods[METHODS_COUNT];
    char name[];
};

static int file_sync(sqlite3_file *file, int flags) {
    const stall_methods *methods = (const stall_methods *)file->pMethods;
    stall_vfs *vfs = methods->vfs;
    pthread_mutex_lock(&vfs->mutex);
    if (vfs->is_stalled) {
        vfs->waiting += 1;
        while (vfs->is_stalled) pthread_cond_wait(&vfs->condition, &vfs->mutex);
        vfs->waiting -= 1;
    }
    pthread_mutex_unlock(&vfs->mutex);
    return methods->original->xSync(file, flags);
}

// The table that stands for another one. NULL when there are too many.
static const sqlite3_io_methods *stalling(stall_vfs *vfs, const sqlite3_io_methods *original) {
    const sqlite3_io_methods *found = NULL;
    pthread_mutex_lock(&vfs->mutex);
    for (int i = 0; i < METHODS_COUNT && found == NULL; i++) {
        stall_methods *methods = &vfs->methods[i];
        if (methods->original == NULL) {
            methods->base = *original;
            methods->base.xSync = file_sync;
            methods->original = original;
            methods->vfs = vfs;
        }
        if (methods->original == original) found = &methods->base;
    }
    pthread_mutex_unlock(&vfs->mutex);
    return found;
}

static int vfs_open(sqlite3_vfs *base, const char *path, sqlite3_file *file, int flags, int *out_flags) {
    stall_vfs *vfs = (stall_vfs *)base;
    int code = vfs->real->xOpen(vfs->real, path, file, flags, out_flags);
    if (code != SQLITE_OK || file->pMethods == NULL) return code;
    const sqlite3_io_methods *methods = stalling(vfs, file->pMethods);
    if (methods == NULL) {
        file->pMethods->xClose(file);
        file->pMethods = NULL;
        return SQLITE_CANTOPEN;
    }
    file->pMethods = methods;
    return SQLITE_OK;
}

stall_vfs *stall_vfs_register(const char *name) {
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    stall_vfs *vfs = calloc(1, sizeof(stall_vfs) + strlen(name) + 1);
    if (real == NULL || vfs == NULL) {
        free(vfs);
        return NULL;
    }
    strcpy(vfs->name, name);
    pthread_mutex_init(&vfs->mutex, NULL);
    pthread_cond_init(&vfs->condition, NULL);
    // The other functions are the default's, which looks at nothing of its own in the VFS that it gets but `pAppData`.
    vfs->base = *real;
    vfs->base.pNext = NULL;
    vfs->base.zName = vfs->name;
    vfs->base.xOpen = vfs_open;
    vfs->real = real;
    if (sqlite3_vfs_register(&vfs->base, 0) != SQLITE_OK) {
        pthread_cond_destroy(&vfs->condition);
        pthread_mutex_destroy(&vfs->mutex);
        free(vfs);
        return NULL;
    }
    return vfs;
}

void stall_vfs_stall(stall_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    vfs->is_stalled = 1;
    pthread_mutex_unlock(&vfs->mutex);
}

void stall_vfs_resume(stall_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    vfs->is_stalled = 0;
    pthread_cond_broadcast(&vfs->condition);
    pthread_mutex_unlock(&vfs->mutex);
}

int64_t stall_vfs_waiting(stall_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    int64_t waiting = vfs->waiting;
    pthread_mutex_unlock(&vfs->mutex);
    return waiting;
}
