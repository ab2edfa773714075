// SQLite, and the parts of its interface that Swift cannot see: variadic functions and macros
// that are casts.
#pragma once
#include <sqlite3.h>

/// `SQLITE_TRANSIENT`: SQLite copies the bytes before it returns. NULL with no length binds the
/// empty text, never NULL.
static inline int csqlite_bind_text(
    sqlite3_stmt *statement, int index, const char *text, int length) {
    return sqlite3_bind_text(
        statement, index, text != 0 ? text : "", text != 0 ? length : 0, SQLITE_TRANSIENT);
}

/// `SQLITE_TRANSIENT`, as above; NULL binds the empty blob.
static inline int csqlite_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, int length) {
    return sqlite3_bind_blob(
        statement, index, bytes != 0 ? bytes : "", bytes != 0 ? length : 0, SQLITE_TRANSIENT);
}

/// Switches one of the boolean options of `sqlite3_db_config` (variadic).
static inline int csqlite_configure(sqlite3 *database, int option, int on) {
    return sqlite3_db_config(database, option, on, (int *)0);
}
