#include "database.hpp"

Database::Database(const std::string &path) : path_(path) {
    if (sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK)
        return;
    const std::string reason = sqlite3_errmsg(database_);
    sqlite3_close(database_);
    throw DatabaseError(path_ + ": " + reason);
}

Database::~Database() {
    sqlite3_finalize(statement_);
    sqlite3_close(database_);
}

void Database::query(const std::string &clauses) {
    sqlite3_finalize(statement_);
    statement_ = nullptr;
    const std::string text =
        "SELECT id, name, right_ascension, declination, parallax, magnitude, spectral_class "
        "FROM stars " +
        clauses;
    if (sqlite3_prepare_v2(database_, text.c_str(), -1, &statement_, nullptr) != SQLITE_OK) fail();
}

static void assignText(std::string &target, sqlite3_stmt *statement, int column) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    target.assign(text ? reinterpret_cast<const char *>(text) : "");
}

bool Database::next(StarRow &row) {
    const int result = sqlite3_step(statement_);
    if (result == SQLITE_DONE) return false;
    if (result != SQLITE_ROW) fail();
    row.id = sqlite3_column_int64(statement_, 0);
    assignText(row.name, statement_, 1);
    assignText(row.rightAscension, statement_, 2);
    assignText(row.declination, statement_, 3);
    row.parallax = sqlite3_column_double(statement_, 4);
    row.magnitude = sqlite3_column_double(statement_, 5);
    assignText(row.spectralClass, statement_, 6);
    return true;
}

void Database::fail() { throw DatabaseError(path_ + ": " + sqlite3_errmsg(database_)); }
