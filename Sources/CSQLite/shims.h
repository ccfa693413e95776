// The system's SQLite, and shims for what Swift can't import: functions with variable arguments.
#ifndef CSQLITE_SHIMS_H
#define CSQLITE_SHIMS_H

#include <sqlite3.h>

// https://www.sqlite.org/c3ref/c_dbconfig_defensive.html
static inline int csqlite_db_config_bool(sqlite3 *db, int option, int value, int *result) {
    return sqlite3_db_config(db, option, value, result);
}

// https://www.sqlite.org/c3ref/c_config_covering_index_scan.html#sqliteconfiglog
static inline int csqlite_config_log(void (*log)(void *, int, const char *), void *context) {
    return sqlite3_config(SQLITE_CONFIG_LOG, log, context);
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

#endif
