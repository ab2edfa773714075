// The star database, one forward-only query at a time.
#pragma once

#include <sqlite3.h>

#include <stdexcept>
#include <string>

#include "star.hpp"

/// The database is missing, damaged, or not ours. `what()` is SQLite's sentence and the path.
struct DatabaseError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Database {
public:
    /// Opens `path` read-only. Throws `DatabaseError`.
    explicit Database(const std::string &path);
    ~Database();
    Database(const Database &) = delete;
    Database &operator=(const Database &) = delete;

    /// Starts a query for stars; `clauses` follows `FROM stars`. Throws `DatabaseError`.
    void query(const std::string &clauses);
    /// Reads the next row of the query into `row`; false after the last. Throws `DatabaseError`.
    bool next(StarRow &row);

private:
    [[noreturn]] void fail();

    std::string path_;
    sqlite3 *database_ = nullptr;
    sqlite3_stmt *statement_ = nullptr;
};
