// A VFS over the default one, which does itself what it replaces: https://www.sqlite.org/vfs.html
//
// Its files are the default's own. Their tables of methods are copies but for what is replaced.
#ifndef OVERLAY_VFS_H
#define OVERLAY_VFS_H

#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>

typedef struct overlay_vfs overlay_vfs;

// A table of methods that stands for another one.
typedef struct {
    sqlite3_io_methods base;
    const sqlite3_io_methods *original;
    overlay_vfs *vfs;
} overlay_methods;

// The default VFS has a few tables of methods, for kinds of locks.
enum { OVERLAY_METHODS_COUNT = 16 };

// What a VFS begins with.
struct overlay_vfs {
    sqlite3_vfs base;
    sqlite3_vfs *real;
    // Replaces methods of a file, in a copy of its table.
    void (*replace)(sqlite3_io_methods *);
    // Held while a table is looked for.
    pthread_mutex_t methods_mutex;
    overlay_methods methods[OVERLAY_METHODS_COUNT];
};

// Makes a VFS of a size, which begins with an `overlay_vfs`; the rest is zeros. Its functions are the default's, but
// for `xOpen`, which must call `overlay_open`; more may be replaced before it is registered. Each of its files has
// `file_size` bytes of its own. NULL when memory is out.
void *overlay_create(size_t size, size_t file_size, const char *name, void (*replace)(sqlite3_io_methods *));

// Registers it for good, or frees it. What it returns is the VFS, or NULL.
void *overlay_register(void *vfs);

// Opens a file of the default VFS, and replaces its methods.
int overlay_open(overlay_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags);

static inline const overlay_methods *overlay_methods_of(sqlite3_file *file) {
    return (const overlay_methods *)file->pMethods;
}

// The VFS of a file.
static inline void *overlay_of(sqlite3_file *file) { return overlay_methods_of(file)->vfs; }

// The default's methods of a file.
static inline const sqlite3_io_methods *original(sqlite3_file *file) { return overlay_methods_of(file)->original; }

// The bytes that a file of an overlay has for itself.
static inline void *overlay_bytes(overlay_vfs *vfs, sqlite3_file *file) { return (char *)file + vfs->real->szOsFile; }

#endif
