// A VFS over the default one that records what is written and what is synced, so that a power loss can be simulated.
#ifndef RECORDING_VFS_H
#define RECORDING_VFS_H

#include <stdint.h>

typedef struct recording_vfs recording_vfs;

typedef enum {
    // A file is there under a name, empty.
    RECORD_CREATE,
    RECORD_WRITE,
    // A file has another size.
    RECORD_TRUNCATE,
    // What was written to a file is on the disk.
    RECORD_SYNC,
    // The names of files are on the disk: what is created and what is deleted.
    RECORD_SYNC_FOLDER,
    RECORD_DELETE,
    // The test's own.
    RECORD_MARK,
} record_kind;

typedef struct {
    record_kind kind;
    // A number for each file that was ever created; a mark's number.
    int64_t file;
    // The name in its folder; NULL but for what creates and deletes.
    const char *name;
    // The place of a write; the new size.
    int64_t offset;
    int64_t count;
    const uint8_t *bytes;
} record;

// Registers a VFS under a name that no other has, for good. NULL when memory is out. Its databases must be created
// with it, all in one folder.
recording_vfs *recording_vfs_register(const char *name);

// Adds a mark to what is recorded.
void recording_vfs_mark(recording_vfs *vfs, int64_t number);

// How much has been recorded.
int64_t recording_vfs_count(recording_vfs *vfs);

// One record. It lasts until all are forgotten.
record recording_vfs_record(recording_vfs *vfs, int64_t index);

// Frees all records, and records no more.
void recording_vfs_forget(recording_vfs *vfs);

#endif
