// A VFS over the default one, whose operations fail on demand: https://www.sqlite.org/vfs.html
#ifndef FAULT_VFS_H
#define FAULT_VFS_H

#include <stdint.h>

typedef struct fault_vfs fault_vfs;

// The kinds of operations, for a mask.
enum {
    FAULT_OPEN = 1 << 0,
    FAULT_READ = 1 << 1,
    FAULT_WRITE = 1 << 2,
    FAULT_SYNC = 1 << 3,
    FAULT_LOCK = 1 << 4,
    FAULT_TRUNCATE = 1 << 5,
    FAULT_DELETE = 1 << 6,
    FAULT_ACCESS = 1 << 7,
    FAULT_SIZE = 1 << 8,
    FAULT_SHARED_MEMORY = 1 << 9,
};

// Registers a VFS under a name that no other has, for good. NULL when memory is out.
fault_vfs *fault_vfs_register(const char *name);

// Fails the nth operation from now, from 1, among those of the mask; with `sticky`, all that follow too.
// A write that fails writes half its bytes; a read reads half of them, and leaves rubbish for the rest. `code` is what it answers; 0 for the operation's own code.
void fault_vfs_arm(fault_vfs *vfs, uint32_t mask, int64_t nth, int code, int sticky);

// Lets all operations succeed.
void fault_vfs_disarm(fault_vfs *vfs);

// Makes reads fail that touch some bytes of a file, until `fault_vfs_repair`: up to 64 such ranges. The path is the full one.
void fault_vfs_damage(fault_vfs *vfs, const char *path, int64_t offset, int64_t count);

// Makes the bytes of all files readable again.
void fault_vfs_repair(fault_vfs *vfs);

// The number of operations of the mask since it was armed.
int64_t fault_vfs_count(fault_vfs *vfs);

// The number of operations that were made to fail since it was armed.
int64_t fault_vfs_failures(fault_vfs *vfs);

#endif
