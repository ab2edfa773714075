// A little of what debug information has to say: inlined calls in several levels, ranges, a
// template, a lambda, static data, a namespace, a virtual call, a declaration outside of its class.
namespace space {
struct Base {
    virtual int answer(int) = 0;
    int member(int value);
};

template <typename Value, int count> struct Sum : Base {
    Value values[count];
    int answer(int start) override {
        auto add = [this](int sum, int index) { return sum + values[index]; };
        for (int index = 0; index < count; index++) start = add(start, index);
        return start;
    }
};
}  // namespace space

static int total;
static inline int twice(int value) { return value + value; }
static inline int again(int value) {
    if (value > 3) return twice(value) - total;
    return twice(value + 1);
}

int space::Base::member(int value) { return again(answer(value)); }

extern "C" __attribute__((cold)) void rare(void) { total = -1; }

extern "C" int entry(int value) {
    space::Sum<int, 4> sum = {};
    if (__builtin_expect(value == 77, 0)) rare();
    total += sum.member(value);
    switch (value) {
    case 1: return again(total);
    case 2: return twice(total);
    default: return sum.answer(again(value));
    }
}
