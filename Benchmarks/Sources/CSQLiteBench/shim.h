// The system's SQLite, as the C side of the benchmarks calls it.
#ifndef CSQLITEBENCH_SHIM_H
#define CSQLITEBENCH_SHIM_H

#include <sqlite3.h>

#endif
