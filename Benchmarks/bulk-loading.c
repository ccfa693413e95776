// What indexes, triggers, full text and transactions cost in a bulk load: the figures of the article BulkLoading.
//
//     cc -O2 Benchmarks/bulk-loading.c -lsqlite3 -o bulk-loading && ./bulk-loading 200000 3 FOLDER
//
// Each variant inserts the same rows with a prepared statement into a new file in FOLDER, and checkpoints. The times are
// the least of all rounds, of the processor and of the clock, in relation to those of the first variant.

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PARENT \
    "CREATE TABLE parent(id INTEGER PRIMARY KEY);" \
    "INSERT INTO parent WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) SELECT i FROM n;"
#define COLUMNS(id, email, team) \
    "CREATE TABLE player(id INTEGER " id ", name TEXT, email TEXT " email ", score INTEGER, team INTEGER " team ", text TEXT)"
#define TABLE COLUMNS("PRIMARY KEY", "", "") ";"
#define TEXT_KEY COLUMNS("", "PRIMARY KEY", "")
#define INDEX "CREATE INDEX i1 ON player(email);"
#define INDEXES INDEX "CREATE INDEX i2 ON player(name); CREATE INDEX i3 ON player(team, score);"
#define FTS "CREATE VIRTUAL TABLE f USING fts5(text, content = 'player', content_rowid = 'id');"
#define FTS_TRIGGER \
    FTS "CREATE TRIGGER t AFTER INSERT ON player BEGIN INSERT INTO f(rowid, text) VALUES (new.id, new.text); END;"
#define COUNTING_TRIGGER \
    "CREATE TABLE c(n); INSERT INTO c VALUES (0);" \
    "CREATE TRIGGER t AFTER INSERT ON player BEGIN UPDATE c SET n = n + 1; END;"

enum { MOST_ROWS_OF_STATEMENT = 32 };

typedef enum { AS_THEY_COME, SHUFFLED, SORTED_EMAILS } Order;

typedef struct {
    const char *name, *pragmas, *before, *after;
    int rowsOfTransaction;  // 0: all
    Order order;
    int rowsOfStatement;
    int part;  // inserts only this part of the rows
} Variant;

static const Variant variants[] = {
    {"plain", "", TABLE, "", 0, 0, 1, 1},
    {"32 rows a statement", "", TABLE, "", 0, 0, 32, 1},
    {"shuffled ids", "", TABLE, "", 0, SHUFFLED, 1, 1},
    {"shuffled ids, cache 64 MB", "PRAGMA cache_size = -64000", TABLE, "", 0, SHUFFLED, 1, 1},
    {"text key", "", TEXT_KEY, "", 0, 0, 1, 1},
    {"text key, sorted", "", TEXT_KEY, "", 0, SORTED_EMAILS, 1, 1},
    {"text key, WITHOUT ROWID", "", TEXT_KEY "WITHOUT ROWID", "", 0, 0, 1, 1},
    {"text key, WITHOUT ROWID, sorted", "", TEXT_KEY "WITHOUT ROWID", "", 0, SORTED_EMAILS, 1, 1},
    {"1 index", "", TABLE INDEX, "", 0, 0, 1, 1},
    {"1 index afterwards", "", TABLE, INDEX, 0, 0, 1, 1},
    {"3 indexes", "", TABLE INDEXES, "", 0, 0, 1, 1},
    {"3 indexes, cache 64 MB", "PRAGMA cache_size = -64000", TABLE INDEXES, "", 0, 0, 1, 1},
    {"3 indexes afterwards", "", TABLE, INDEXES, 0, 0, 1, 1},
    {"trigger counts", "", TABLE COUNTING_TRIGGER, "", 0, 0, 1, 1},
    {"counted afterwards", "", TABLE "CREATE TABLE c(n);", "INSERT INTO c SELECT count(*) FROM player", 0, 0, 1, 1},
    {"foreign key", "PRAGMA foreign_keys = ON", PARENT COLUMNS("PRIMARY KEY", "", "REFERENCES parent"), "", 0, 0, 1, 1},
    {"foreign key, checked afterwards", "", PARENT COLUMNS("PRIMARY KEY", "", "REFERENCES parent"),
     "PRAGMA foreign_key_check", 0, 0, 1, 1},
    {"FTS5 by trigger", "", TABLE FTS_TRIGGER, "", 0, 0, 1, 1},
    {"FTS5 by trigger, 32 rows a statement", "", TABLE FTS_TRIGGER, "", 0, 0, 32, 1},
    {"FTS5 by trigger, transactions of 1000", "", TABLE FTS_TRIGGER, "", 1000, 0, 1, 1},
    {"FTS5 rebuilt afterwards", "", TABLE FTS, "INSERT INTO f(f) VALUES ('rebuild')", 0, 0, 1, 1},
    {"FTS5 by INSERT SELECT afterwards", "", TABLE FTS, "INSERT INTO f(rowid, text) SELECT id, text FROM player", 0, 0, 1, 1},
    {"transactions of 1", "", TABLE, "", 1, 0, 1, 20},
    {"transactions of 100", "", TABLE, "", 100, 0, 1, 1},
    {"transactions of 1000", "", TABLE, "", 1000, 0, 1, 1},
    {"transactions of 10000", "", TABLE, "", 10000, 0, 1, 1},
    {"3 indexes, transactions of 100", "", TABLE INDEXES, "", 100, 0, 1, 1},
    {"3 indexes, transactions of 1000", "", TABLE INDEXES, "", 1000, 0, 1, 1},
    {"3 indexes, transactions of 10000", "", TABLE INDEXES, "", 10000, 0, 1, 1},
    {"FULL, transactions of 10", "PRAGMA synchronous = FULL", TABLE, "", 10, 0, 1, 20},
    {"FULL, transactions of 100", "PRAGMA synchronous = FULL", TABLE, "", 100, 0, 1, 1},
    {"FULL, transactions of 1000", "PRAGMA synchronous = FULL", TABLE, "", 1000, 0, 1, 1},
    {"FULL, transactions of 10000", "PRAGMA synchronous = FULL", TABLE, "", 10000, 0, 1, 1},
    {"FULL, one transaction", "PRAGMA synchronous = FULL", TABLE, "", 0, 0, 1, 1},
    {"OFF, transactions of 1000", "PRAGMA synchronous = OFF", TABLE, "", 1000, 0, 1, 1},
};
enum { VARIANT_COUNT = sizeof variants / sizeof *variants };

static double processorTime(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double clockTime(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

/// Random bits of a number, the same in each run.
static unsigned hash(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15) * 0x846ca68b;
    return x ^ x >> 16;
}

static int byHash(const void *a, const void *b) {
    unsigned x = hash(*(const unsigned *)a), y = hash(*(const unsigned *)b);
    return x < y ? -1 : x > y;
}

static void require(int condition, sqlite3 *db, const char *what) {
    if (condition) return;
    fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void execute(sqlite3 *db, const char *sql) { require(!sqlite3_exec(db, sql, 0, 0, 0), db, sql); }

static void bindRow(sqlite3_stmt *statement, int firstParameter, unsigned id, char texts[3][200]) {
    static const char *words[] = {"alpha", "beta",  "gamma", "delta", "river",
                                  "hill",  "table", "query", "swift", "server"};
    unsigned random = hash(id), next = random;
    int name = snprintf(texts[0], 200, "Player %x", hash(random) & 0xfffff), length = 0;
    int email = snprintf(texts[1], 200, "%08x@example.com", random);
    for (int word = 0; word < 8; word++) {
        next = hash(next + word);
        length += snprintf(texts[2] + length, 200 - length, "%s%u ", words[next % 10], (next >> 8) % 500);
    }
    sqlite3_bind_int64(statement, firstParameter, id);
    sqlite3_bind_text(statement, firstParameter + 1, texts[0], name, SQLITE_STATIC);
    sqlite3_bind_text(statement, firstParameter + 2, texts[1], email, SQLITE_STATIC);
    sqlite3_bind_int(statement, firstParameter + 3, random % 1000);
    sqlite3_bind_int(statement, firstParameter + 4, random % 997);
    sqlite3_bind_text(statement, firstParameter + 5, texts[2], length, SQLITE_STATIC);
}

static void load(const Variant *variant, const unsigned *ids, int count, const char *path, double *cpu, double *wall) {
    static const char *suffixes[] = {"", "-wal", "-shm"};
    char file[1000], sql[1000] = "INSERT INTO player VALUES (?,?,?,?,?,?)";
    static char texts[MOST_ROWS_OF_STATEMENT][3][200];
    for (int i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s%s", path, suffixes[i]);
        unlink(file);
    }
    sqlite3 *db;
    sqlite3_stmt *statement;
    require(!sqlite3_open(path, &db), db, path);
    execute(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    execute(db, variant->pragmas);
    execute(db, variant->before);
    for (int row = 1; row < variant->rowsOfStatement; row++) strcat(sql, ", (?,?,?,?,?,?)");
    require(!sqlite3_prepare_v2(db, sql, -1, &statement, 0), db, sql);
    double cpuStart = processorTime(), wallStart = clockTime();
    execute(db, "BEGIN IMMEDIATE");
    int last = count / variant->part / variant->rowsOfStatement * variant->rowsOfStatement, uncommitted = 0;
    for (int first = 0; first < last; first += variant->rowsOfStatement) {
        for (int row = 0; row < variant->rowsOfStatement; row++) {
            bindRow(statement, row * 6 + 1, ids[first + row], texts[row]);
        }
        require(sqlite3_step(statement) == SQLITE_DONE, db, variant->name);
        sqlite3_reset(statement);
        uncommitted += variant->rowsOfStatement;
        if (variant->rowsOfTransaction && uncommitted >= variant->rowsOfTransaction) {
            execute(db, "COMMIT; BEGIN IMMEDIATE");
            uncommitted = 0;
        }
    }
    execute(db, variant->after);
    execute(db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
    *cpu = (processorTime() - cpuStart) * variant->part;
    *wall = (clockTime() - wallStart) * variant->part;
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: bulk-loading ROWS ROUNDS FOLDER\n"), 2;
    int count = atoi(argv[1]), rounds = atoi(argv[2]);
    char path[900];
    snprintf(path, sizeof path, "%s/bulk-loading.sqlite", argv[3]);
    unsigned *orders[3];
    for (int order = 0; order < 3; order++) {
        orders[order] = malloc(count * sizeof(unsigned));
        for (int i = 0; i < count; i++) orders[order][i] = i;
    }
    for (int i = count - 1; i > 0; i--) {
        int other = hash(i) % (i + 1);
        unsigned id = orders[SHUFFLED][i];
        orders[SHUFFLED][i] = orders[SHUFFLED][other];
        orders[SHUFFLED][other] = id;
    }
    qsort(orders[SORTED_EMAILS], count, sizeof(unsigned), byHash);
    double cpu[VARIANT_COUNT], wall[VARIANT_COUNT];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < VARIANT_COUNT; i++) {
            double newCPU, newWall;
            load(&variants[i], orders[variants[i].order], count, path, &newCPU, &newWall);
            if (!round || newCPU < cpu[i]) cpu[i] = newCPU;
            if (!round || newWall < wall[i]) wall[i] = newWall;
        }
    }
    printf("SQLite %s, %d rows, %d rounds\n", sqlite3_libversion(), count, rounds);
    for (int i = 0; i < VARIANT_COUNT; i++) {
        printf("%-40s %6.2f %6.2f\n", variants[i].name, cpu[i] / cpu[0], wall[i] / wall[0]);
    }
}
