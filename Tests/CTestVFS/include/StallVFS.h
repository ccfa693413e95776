// A VFS over the default one, whose syncs wait on demand: https://www.sqlite.org/vfs.html
#ifndef STALL_VFS_H
#define STALL_VFS_H

#include <stdint.h>

typedef struct stall_vfs stall_vfs;

// Registers a VFS under a name that no other has, for good. NULL when memory is out.
stall_vfs *stall_vfs_register(const char *name);

// Makes syncs wait from now on.
void stall_vfs_stall(stall_vfs *vfs);

// Lets those go on that wait, and all that come.
void stall_vfs_resume(stall_vfs *vfs);

// The number of syncs that wait now.
int64_t stall_vfs_waiting(stall_vfs *vfs);

#endif
