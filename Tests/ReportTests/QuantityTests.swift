import ProfileModel
import Testing

@testable import Exports
@testable import Report

/// Numbers as all reports of a measurement write them.
@Suite struct QuantityTests {
    @Test(arguments: [
        (0, "0 ms"), (-0.0, "0 ms"), (1, "1 ns"), (999, "999 ns"), (999.5, "999.5 ns"),
        (1_000, "1.000 µs"), (45_340, "45.34 µs"), (99_949, "99.95 µs"), (999_949, "999.9 µs"),
        (999_951, "1.000 ms"), (1_234_499, "1.234 ms"), (9_999_400, "9.999 ms"),
        (9_999_500, "10.00 ms"), (42_314_000, "42.31 ms"), (99_996_000, "100.0 ms"),
        (372_400_000, "372.4 ms"), (999_960_000, "1.000 s"), (2_512_340_000, "2.512 s"),
        (12_345_678_901, "12.35 s"), (1_234_567_890_123, "1,235 s"), (1e15, "1,000,000 s"),
        (-42_314_000, "-42.31 ms"), (.nan, "unknown"), (.infinity, "unknown"),
        (-.infinity, "unknown"), (1e300, "unknown"),
    ])
    func timesHaveFourDigits(value: Double, text: String) {
        #expect(Quantity.time.text(value) == text)
    }

    @Test func otherQuantities() {
        #expect(Quantity.count.text(1_234) == "1,234")
        #expect(Quantity.count.text(912.5) == "912.5")
        #expect(Quantity.bytes.text(0) == "0 B")
        #expect(Quantity.bytes.text(12_345_678) == "11.77 MiB")
        #expect(Quantity.bytes.text(1e300) == "unknown")
        #expect(Numbers.measured(.milliseconds(3)) == "3.000 ms")
    }

    @Test func ranges() {
        #expect(Quantity.time.range(41_900_000, 42_800_000) == "41.90 to 42.80 ms")
        #expect(Quantity.time.range(999_000, 1_000_000) == "0.999 to 1.000 ms")
        #expect(Quantity.time.range(656_500, 11_240_000) == "0.657 to 11.24 ms")
        #expect(Quantity.time.range(5_000, 11_240_000) == "5.000 µs to 11.24 ms")
        #expect(Quantity.time.range(0, 12_345) == "0 to 12.35 µs")
        #expect(Quantity.time.range(0, 12_345_678) == "0 to 12.35 ms")
        #expect(Quantity.time.range(0, 0) == "0 to 0 ms")
        #expect(Quantity.time.range(-2_000_000, -1_000_000) == "-2.000 ms to -1.000 ms")
        #expect(Quantity.bytes.range(0, 4_096) == "0 to 4.000 KiB")
        #expect(Quantity.count.range(904.5, 912) == "904.5 to 912")
        #expect(Quantity.time.range(.nan, 1) == "unknown to 1 ns")
        #expect(Quantity.time.range(1, .nan) == "1 ns to unknown")
        #expect(Quantity.count.range(905, 912) == "905 to 912")
    }

    @Test func differences() {
        #expect(Quantity.time.signed(-1_500_000) == "-1.500 ms")
        #expect(Quantity.time.signed(18_300_000) == "+18.30 ms")
        #expect(Quantity.time.signed(0) == "0 ms")
    }

    @Test(arguments: [
        (0.0375, "+3.8 %"), (-0.008, "-0.8 %"), (-0.000_4, "-0.04 %"), (0.000_4, "+0.04 %"),
        (1.25, "+125 %"), (-0.000_01, "0.00 %"), (0.000_01, "0.00 %"), (0, "0 %"),
        (.nan, "unknown"), (1e300, "unknown"),
    ])
    func changes(share: Double, text: String) { #expect(Numbers.change(share) == text) }

    @Test func shares() {
        #expect(Numbers.share(0.124) == "12.4 %")
        #expect(Numbers.share(-0.5) == "50.0 %")
        #expect(Numbers.share(.nan) == "unknown")
        #expect(Numbers.confidence(0.95) == "95 %")
        #expect(Numbers.confidence(0.97855) == "97.8 %")
        #expect(Numbers.confidence(0.999_99) == "99.9 %")
        #expect(Numbers.confidence(.infinity) == "unknown")
    }

    @Test func decimals() {
        #expect(Numbers.decimal(-0.001, 1) == "0.0")
        #expect(Numbers.decimal(1_234.5678, 2) == "1,234.57")
    }

    @Test(arguments: [
        (3_400_000, "3.40 GHz"), (999_996, "1.00 GHz"), (800_000, "800 MHz"), (0, "0 MHz"),
        (.max, "9,223,372,036,854.78 GHz"), (.min, "-9,223,372,036,854,775 MHz"),
    ])
    func clocks(kilohertz: Int64, text: String) {
        #expect(Numbers.clock(kilohertz: kilohertz) == text)
    }

    @Test func launches() {
        #expect(Numbers.launches(1) == "1 launch")
        #expect(Numbers.launches(1_234) == "1,234 launches")
    }
}
