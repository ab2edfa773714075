// Makes the database: generate FILE. 200,000 invented stars, always the same ones.

#include <sqlite3.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {
constexpr int starCount = 200'000;

/// xorshift64 (G. Marsaglia, 2003), seeded: every build has the same sky.
class Random {
public:
    double unit() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<double>(state_ >> 11) / 9007199254740992.0;
    }
    int below(int limit) { return static_cast<int>(unit() * limit); }

private:
    std::uint64_t state_ = 0x9E3779B97F4A7C15;
};

std::string format(const char *pattern, const char *sign, int units, double fraction) {
    char text[32];
    const double minutes = fraction * 60;
    const int whole = static_cast<int>(minutes);
    std::snprintf(text, sizeof text, pattern, sign, units, whole, (minutes - whole) * 59.9);
    return text;
}

std::string spectralClass(Random &random) {
    static constexpr char classes[] = "OBBAAAFFFFGGGGGKKKKKKMMMMMMM";
    static constexpr const char *luminosities[] = {"V", "V", "V", "V", "IV", "III", "II", "Ia"};
    std::string text(1, classes[random.below(sizeof classes - 1)]);
    text += static_cast<char>('0' + random.below(10));
    return text + luminosities[random.below(8)];
}

class Writer {
public:
    explicit Writer(const char *path) {
        if (sqlite3_open(path, &database_) != SQLITE_OK) fail();
        run("CREATE TABLE stars (id INTEGER PRIMARY KEY, name TEXT, right_ascension TEXT, "
            "declination TEXT, parallax REAL, magnitude REAL, spectral_class TEXT); BEGIN");
        const char *insert = "INSERT INTO stars VALUES (?, ?, ?, ?, ?, ?, ?)";
        if (sqlite3_prepare_v2(database_, insert, -1, &statement_, nullptr) != SQLITE_OK) fail();
    }
    ~Writer() {
        sqlite3_finalize(statement_);
        sqlite3_close(database_);
    }

    void insertStar(int id, Random &random) {
        sqlite3_bind_int(statement_, 1, id);
        bind(2, "HIP " + std::to_string(id));
        bind(3, format("%s%02d %02d %05.2f", "", random.below(24), random.unit()));
        // Equal areas of the sky hold equally many stars.
        const double declination = std::asin(2 * random.unit() - 1) * 180 / M_PI;
        const double size = std::fabs(declination);
        const int degrees = static_cast<int>(size);
        bind(4, format("%s%02d %02d %04.1f", declination < 0 ? "-" : "+", degrees, size - degrees));
        sqlite3_bind_double(statement_, 5, 0.5 + 60 * std::pow(random.unit(), 4));
        // Each magnitude holds about three times as many stars as the one before.
        sqlite3_bind_double(statement_, 6, 12 + std::log(1e-6 + random.unit()) / 1.1);
        bind(7, spectralClass(random));
        if (sqlite3_step(statement_) != SQLITE_DONE) fail();
        sqlite3_reset(statement_);
    }

    void finish() { run("COMMIT; CREATE INDEX stars_by_magnitude ON stars (magnitude)"); }

private:
    void bind(int column, const std::string &text) {
        sqlite3_bind_text(statement_, column, text.c_str(), -1, SQLITE_TRANSIENT);
    }
    void run(const char *sql) {
        if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
    }
    [[noreturn]] void fail() { throw std::runtime_error(sqlite3_errmsg(database_)); }

    sqlite3 *database_ = nullptr;
    sqlite3_stmt *statement_ = nullptr;
};
}  // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: generate FILE\n");
        return 2;
    }
    try {
        Writer writer(argv[1]);
        Random random;
        for (int id = 1; id <= starCount; ++id) writer.insertStar(id, random);
        writer.finish();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "generate: %s: %s\n", argv[1], error.what());
        return 1;
    }
    return 0;
}
