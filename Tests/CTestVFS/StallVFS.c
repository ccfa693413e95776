#include "StallVFS.h"

#include "OverlayVFS.h"

struct stall_vfs {
    overlay_vfs base;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int is_stalled;
    int64_t waiting;
};

static int file_sync(sqlite3_file *file, int flags) {
    stall_vfs *vfs = overlay_of(file);
    pthread_mutex_lock(&vfs->mutex);
    if (vfs->is_stalled) {
        vfs->waiting += 1;
        while (vfs->is_stalled) pthread_cond_wait(&vfs->condition, &vfs->mutex);
        vfs->waiting -= 1;
    }
    pthread_mutex_unlock(&vfs->mutex);
    return original(file)->xSync(file, flags);
}

static void replace(sqlite3_io_methods *methods) { methods->xSync = file_sync; }

static int vfs_open(sqlite3_vfs *base, const char *path, sqlite3_file *file, int flags, int *out_flags) {
    return overlay_open((overlay_vfs *)base, path, file, flags, out_flags);
}

stall_vfs *stall_vfs_register(const char *name) {
    stall_vfs *vfs = overlay_create(sizeof(stall_vfs), 0, name, replace);
    if (vfs == NULL) return NULL;
    pthread_mutex_init(&vfs->mutex, NULL);
    pthread_cond_init(&vfs->condition, NULL);
    vfs->base.base.xOpen = vfs_open;
    return overlay_register(vfs);
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
