#include "OverlayVFS.h"

#include <stdlib.h>
#include <string.h>

void *overlay_create(size_t size, size_t file_size, const char *name, void (*replace)(sqlite3_io_methods *)) {
    if (sqlite3_initialize() != SQLITE_OK) return NULL;
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    overlay_vfs *vfs = calloc(1, size);
    char *own_name = strdup(name);
    if (real == NULL || vfs == NULL || own_name == NULL) {
        free(own_name);
        free(vfs);
        return NULL;
    }
    pthread_mutex_init(&vfs->methods_mutex, NULL);
    // The default's functions look at nothing of their own in the VFS that they get but `pAppData`.
    vfs->base = *real;
    vfs->base.pNext = NULL;
    vfs->base.zName = own_name;
    vfs->base.szOsFile += (int)file_size;
    vfs->real = real;
    vfs->replace = replace;
    return vfs;
}

void *overlay_register(void *new_vfs) {
    overlay_vfs *vfs = new_vfs;
    if (sqlite3_vfs_register(&vfs->base, 0) == SQLITE_OK) return vfs;
    pthread_mutex_destroy(&vfs->methods_mutex);
    free((void *)vfs->base.zName);
    free(vfs);
    return NULL;
}

// The table that stands for another one. NULL when there are too many.
static const sqlite3_io_methods *replacement(overlay_vfs *vfs, const sqlite3_io_methods *original) {
    const sqlite3_io_methods *found = NULL;
    pthread_mutex_lock(&vfs->methods_mutex);
    for (int i = 0; i < OVERLAY_METHODS_COUNT && found == NULL; i++) {
        overlay_methods *methods = &vfs->methods[i];
        if (methods->original == NULL) {
            methods->base = *original;
            vfs->replace(&methods->base);
            methods->original = original;
            methods->vfs = vfs;
        }
        if (methods->original == original) found = &methods->base;
    }
    pthread_mutex_unlock(&vfs->methods_mutex);
    return found;
}

int overlay_open(overlay_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags) {
    file->pMethods = NULL;
    int code = vfs->real->xOpen(vfs->real, path, file, flags, out_flags);
    if (file->pMethods == NULL) return code;
    const sqlite3_io_methods *methods = replacement(vfs, file->pMethods);
    if (methods == NULL) {
        file->pMethods->xClose(file);
        file->pMethods = NULL;
        return SQLITE_CANTOPEN;
    }
    file->pMethods = methods;
    return code;
}
