import Exports
import ProfileModel
import Report
import Testing

@Suite struct NumbersTests {
    @Test(arguments: [
        (0 as Int64, "0.0 ms"), (1, "< 1 µs"), (499, "< 1 µs"), (-499, "< 1 µs"), (500, "1 µs"),
        (12_499, "12 µs"), (99_499, "99 µs"),
        (99_500, "0.1 ms"), (1_249_999, "1.2 ms"), (1_250_000, "1.3 ms"),
        (372_400_000, "372.4 ms"), (999_949_999, "999.9 ms"), (999_950_000, "1.00 s"),
        (2_125_000_000, "2.13 s"), (1_234_560_000_000, "1,234.56 s"), (-2_000_000, "-2.0 ms"),
        (.max, "9,223,372,036.85 s"), (.min, "-9,223,372,036.85 s"),
    ])
    func times(nanoseconds: Int64, text: String) {
        #expect(Numbers.time(TimeSpan(nanoseconds: nanoseconds)) == text)
    }

    @Test func preciseTimesAndCells() {
        #expect(Numbers.preciseTime(TimeSpan(nanoseconds: 2_511_600_000)) == "2.512 s")
        #expect(Numbers.preciseTime(.milliseconds(12)) == "12.0 ms")
        #expect(Numbers.cell(.zero) == "–")
        #expect(Numbers.cell(.milliseconds(1)) == "1.0 ms")
    }

    @Test(arguments: [
        (0, 100, "0.0 %"), (148, 1000, "14.8 %"), (1, 1000, "0.1 %"), (1, 10_000, "< 0.1 %"),
        (5, 0, "0.0 %"), (100, 100, "100.0 %"), (2500, 100, "2,500.0 %"),
        (.max, 1, "100,000,000,000,000.0 %"),
    ])
    func percents(part: Int, whole: Int, text: String) {
        #expect(Numbers.percent(part, of: whole) == text)
    }

    @Test(arguments: [
        (1 as Int32, "1 Hz"), (999, "999 Hz"), (1000, "1 kHz"), (1500, "1.5 kHz"),
        (1234, "1,234 Hz"), (10_000, "10 kHz"), (-5, "-5 Hz"),
    ])
    func frequencies(hertz: Int32, text: String) {
        #expect(Numbers.frequency(hertz) == text)
    }

    @Test(arguments: [
        (0 as Int64, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (47_815_066, "45.6 MiB"),
        (1_048_575, "1.0 MiB"), (.max, "8,388,608.0 TiB"), (.min, "-8,388,608.0 TiB"),
    ])
    func bytes(count: Int64, text: String) {
        #expect(Numbers.bytes(count) == text)
    }

    @Test func counts() {
        #expect(Numbers.grouped(0) == "0")
        #expect(Numbers.grouped(-1234) == "-1,234")
        #expect(Numbers.grouped(1_234_567) == "1,234,567")
        #expect(Numbers.count(1, "thread") == "1 thread")
        #expect(Numbers.count(1000, "thread") == "1,000 threads")
    }
}

@Suite struct DisplayTests {
    @Test(arguments: [
        ("plain", "plain"), ("naïve 星 ★", "naïve 星 ★"), ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
        ("a\nb\tc\r", "a\\u{a}b\\u{9}c\\u{d}"), ("\u{7f}\u{9b}", "\\u{7f}\\u{9b}"),
        ("\u{202e}txt.exe", "\\u{202e}txt.exe"), ("\u{2028}", "\\u{2028}"),
        ("zero\u{200b}width", "zero\\u{200b}width"), ("\u{feff}\u{fffe}", "\\u{feff}\\u{fffe}"),
        ("\u{e0041}", "\\u{e0041}"), ("\r\n", "\\u{d}\\u{a}"),
    ])
    func escapes(name: String, text: String) {
        #expect(name.escapedForDisplay == text)
    }

    @Test(arguments: [
        ("abc", 3), ("é", 1), ("e\u{301}", 1), ("星", 2), ("한글", 4), ("🚀", 2), ("…–●", 3),
    ])
    func widths(text: String, width: Int) {
        #expect(text.displayWidth == width)
    }

    @Test func shortensInTheMiddle() {
        #expect("abcdefghij".shortened(to: 10) == "abcdefghij")
        #expect("abcdefghij".shortened(to: 6) == "abc…ij")
        #expect("abcdefghij".shortened(to: 1) == "…")
        #expect("abcdefghij".shortened(to: 0) == "")
        #expect("星星星星".shortened(to: 6) == "星…星")
    }

    @Test func wrapsSentences() {
        #expect("one two three".wrapped(to: 20) == "  one two three\n")
        #expect("one two three four".wrapped(to: 10) == "  one two\n    three\n    four\n")
        #expect("incomprehensibilities".wrapped(to: 12) == "  inco…ies\n")
    }
}
