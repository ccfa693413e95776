// The system's SQLite, and shims for what Swift can't import: functions with variable arguments.
#ifndef CSQLITE_SHIMS_H
#define CSQLITE_SHIMS_H

#include <sqlite3.h>

#if defined(__linux__)
#include <sys/vfs.h>
#endif

// https://www.sqlite.org/c3ref/c_dbconfig_defensive.html
static inline int csqlite_db_config_bool(sqlite3 *db, int option, int value, int *result) {
    return sqlite3_db_config(db, option, value, result);
}

// https://www.sqlite.org/c3ref/c_config_covering_index_scan.html#sqliteconfiglog
static inline int csqlite_config_log(void (*log)(void *, int, const char *), void *context) {
    return sqlite3_config(SQLITE_CONFIG_LOG, log, context);
}

// The kind of the file system of a file: https://man7.org/linux/man-pages/man2/statfs.2.html. -1 if it is unknown.
static inline long csqlite_file_system_type(const char *path) {
#if defined(__linux__)
    struct statfs status;
    return statfs(path, &status) == 0 ? (long)status.f_type : -1;
#else
    return -1;
#endif
}

// https://www.sqlite.org/c3ref/preupdate_blobwrite.html: an interface of builds with SQLITE_ENABLE_PREUPDATE_HOOK, which
// sqlite3.h declares only under that macro.
//
// The references are weak, so that a program links and starts with a library that was built without the option. No
// function is called unless the library's compile options name it.
#if defined(__APPLE__)
#define CSQLITE_OPTIONAL __attribute__((weak_import))
#else
#define CSQLITE_OPTIONAL __attribute__((weak))
#endif
CSQLITE_OPTIONAL void *sqlite3_preupdate_hook(
    sqlite3 *db,
    void (*xPreUpdate)(
        void *context, sqlite3 *db, int op, char const *schema, char const *table,
        sqlite3_int64 oldRowID, sqlite3_int64 newRowID),
    void *context);
CSQLITE_OPTIONAL int sqlite3_preupdate_old(sqlite3 *, int, sqlite3_value **);
CSQLITE_OPTIONAL int sqlite3_preupdate_count(sqlite3 *);
CSQLITE_OPTIONAL int sqlite3_preupdate_depth(sqlite3 *);
CSQLITE_OPTIONAL int sqlite3_preupdate_new(sqlite3 *, int, sqlite3_value **);
CSQLITE_OPTIONAL int sqlite3_preupdate_blobwrite(sqlite3 *);

// https://www.sqlite.org/session.html: the session extension of builds with SQLITE_ENABLE_SESSION. The declarations are
// hidden and weak for the same reasons.
typedef struct sqlite3_session sqlite3_session;
typedef struct sqlite3_changeset_iter sqlite3_changeset_iter;
typedef struct sqlite3_changegroup sqlite3_changegroup;
typedef struct sqlite3_rebaser sqlite3_rebaser;

#ifndef SQLITE_CHANGESET_DATA
#define SQLITE_CHANGESET_DATA 1
#define SQLITE_CHANGESET_NOTFOUND 2
#define SQLITE_CHANGESET_CONFLICT 3
#define SQLITE_CHANGESET_CONSTRAINT 4
#define SQLITE_CHANGESET_FOREIGN_KEY 5
#define SQLITE_CHANGESET_OMIT 0
#define SQLITE_CHANGESET_REPLACE 1
#define SQLITE_CHANGESET_ABORT 2
#endif

CSQLITE_OPTIONAL int sqlite3session_create(sqlite3 *db, const char *schema, sqlite3_session **session);
CSQLITE_OPTIONAL void sqlite3session_delete(sqlite3_session *session);
CSQLITE_OPTIONAL int sqlite3session_attach(sqlite3_session *session, const char *table);
CSQLITE_OPTIONAL void sqlite3session_table_filter(
    sqlite3_session *session, int (*xFilter)(void *context, const char *table), void *context);
CSQLITE_OPTIONAL int sqlite3session_changeset(sqlite3_session *session, int *count, void **bytes);
CSQLITE_OPTIONAL int sqlite3session_patchset(sqlite3_session *session, int *count, void **bytes);
CSQLITE_OPTIONAL int sqlite3session_diff(
    sqlite3_session *session, const char *fromSchema, const char *table, char **message);

CSQLITE_OPTIONAL int sqlite3changeset_op(
    sqlite3_changeset_iter *iterator, const char **table, int *columnCount, int *op, int *isIndirect);
CSQLITE_OPTIONAL int sqlite3changeset_pk(sqlite3_changeset_iter *iterator, unsigned char **flags, int *columnCount);
CSQLITE_OPTIONAL int sqlite3changeset_old(sqlite3_changeset_iter *iterator, int column, sqlite3_value **value);
CSQLITE_OPTIONAL int sqlite3changeset_new(sqlite3_changeset_iter *iterator, int column, sqlite3_value **value);
CSQLITE_OPTIONAL int sqlite3changeset_conflict(sqlite3_changeset_iter *iterator, int column, sqlite3_value **value);
CSQLITE_OPTIONAL int sqlite3changeset_fk_conflicts(sqlite3_changeset_iter *iterator, int *count);
CSQLITE_OPTIONAL int sqlite3changeset_invert(int count, const void *bytes, int *resultCount, void **result);
CSQLITE_OPTIONAL int sqlite3changeset_apply_v2(
    sqlite3 *db, int count, void *bytes, int (*xFilter)(void *context, const char *table),
    int (*xConflict)(void *context, int kind, sqlite3_changeset_iter *iterator), void *context, void **rebase,
    int *rebaseCount, int flags);

CSQLITE_OPTIONAL int sqlite3changegroup_new(sqlite3_changegroup **group);
CSQLITE_OPTIONAL int sqlite3changegroup_add(sqlite3_changegroup *group, int count, void *bytes);
CSQLITE_OPTIONAL int sqlite3changegroup_output(sqlite3_changegroup *group, int *count, void **bytes);
CSQLITE_OPTIONAL void sqlite3changegroup_delete(sqlite3_changegroup *group);

CSQLITE_OPTIONAL int sqlite3rebaser_create(sqlite3_rebaser **rebaser);
CSQLITE_OPTIONAL int sqlite3rebaser_configure(sqlite3_rebaser *rebaser, int count, const void *rebase);
CSQLITE_OPTIONAL int sqlite3rebaser_rebase(
    sqlite3_rebaser *rebaser, int count, const void *bytes, int *resultCount, void **result);
CSQLITE_OPTIONAL void sqlite3rebaser_delete(sqlite3_rebaser *rebaser);

// A virtual table and its cursor (https://www.sqlite.org/vtab.html), each with an object of the layer above. SQLite reads the
// first member.
typedef struct {
    sqlite3_vtab base;
    void *module;
} csqlite_table;

typedef struct {
    sqlite3_vtab_cursor base;
    void *rows;
} csqlite_table_cursor;

#endif
