// One of the many units of the program whose debug information is measured: UNIT is its number.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

namespace JOIN(unit, UNIT) {

template <int N>
struct Key {
    std::string text;
    long number = N;
    bool operator<(const Key &other) const
    {
        return number != other.number ? number < other.number : text < other.text;
    }
    bool operator==(const Key &other) const = default;
};

template <int N>
struct Hash {
    std::size_t operator()(const Key<N> &key) const
    {
        return std::hash<std::string>()(key.text) ^ std::size_t(key.number);
    }
};

template <int N>
struct Store {
    std::map<Key<N>, std::vector<Key<N>>> sorted;
    std::unordered_map<Key<N>, std::set<Key<N>>, Hash<N>> hashed;
    std::vector<std::variant<Key<N>, std::shared_ptr<Key<N>>, std::string>> mixed;

    void fill(int count)
    {
        for (int i = 0; i < count; i++) {
            Key<N> key{std::to_string(i * N), i % 7};
            sorted[key].push_back(key);
            hashed[key].insert(key);
            if (i % 3 == 0)
                mixed.emplace_back(key);
            else if (i % 3 == 1)
                mixed.emplace_back(std::make_shared<Key<N>>(key));
            else
                mixed.emplace_back(key.text);
        }
    }

    long sum() const
    {
        long total = 0;
        for (const auto &[key, keys] : sorted)
            total += std::accumulate(keys.begin(), keys.end(), key.number,
                [](long sum, const Key<N> &each) { return sum + each.number; });
        for (const auto &[key, keys] : hashed)
            total += long(keys.size());
        for (const auto &each : mixed)
            total += long(each.index());
        return total;
    }

    long order()
    {
        std::vector<Key<N>> all;
        for (auto &[key, keys] : hashed)
            std::copy(keys.begin(), keys.end(), std::back_inserter(all));
        std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return b < a; });
        std::function<long(std::size_t)> walk = [&](std::size_t index) -> long {
            return index >= all.size() ? 0 : all[index].number + walk(index + 1);
        };
        std::ostringstream text;
        for (auto &key : all)
            text << key.text << ',' << key.number << ';';
        return walk(0) + long(text.str().size());
    }
};

template <int N>
long work(int count)
{
    Store<N> store;
    store.fill(count);
    long total = store.sum() + store.order();
    if constexpr (N > 1)
        total += work<N - 1>(count);
    return total;
}

static long expressions(const std::string &text)
{
    static const std::regex pattern("([a-z]+)([0-9]*)");
    return std::distance(
        std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator());
}

} // namespace

long JOIN(run, UNIT)(int count)
{
    using namespace JOIN(unit, UNIT);
    return work<5>(count) + expressions("abc12 de f9 " + std::to_string(count));
}
