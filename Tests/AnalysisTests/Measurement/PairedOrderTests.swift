import Testing

@testable import Analysis

@Suite struct PairedOrderTests {
    @Test(arguments: 1...30 as ClosedRange<UInt64>) func blocksOfFour(seed: UInt64) {
        let turns = PairedOrder.turns(pairs: 20, seed: seed)
        #expect(turns.count == 40)
        #expect(turns.map(\.pair) == (0..<40).map { $0 / 2 })
        for start in stride(from: 0, to: 40, by: 4) {
            let arms = turns[start..<start + 4].map(\.arm)
            #expect(arms == [0, 1, 1, 0] || arms == [1, 0, 0, 1])
        }
        for start in stride(from: 0, to: 40, by: 2) {
            #expect(turns[start].padding == turns[start + 1].padding)
            #expect((0...4_080).contains(turns[start].padding))
        }
        #expect(Set(turns.map(\.padding)).count > 10)
    }

    @Test func theSeedDecides() {
        #expect(PairedOrder.turns(pairs: 9, seed: 7) == PairedOrder.turns(pairs: 9, seed: 7))
        #expect(
            PairedOrder.turns(pairs: 9, seed: 7) == Array(PairedOrder(seed: 7).prefix(18)))
        let orders = Set((0..<100).map { PairedOrder.turns(pairs: 16, seed: $0).map(\.arm) })
        #expect(orders.count > 60)
    }

    /// Either arm begins half of all blocks.
    @Test func neitherArmIsFavoured() {
        let first = (0..<2_000).count { PairedOrder.turns(pairs: 1, seed: $0)[0].arm == 0 }
        #expect((900...1_100).contains(first))
    }

    @Test func numbersAtTheEdge() {
        #expect(PairedOrder.turns(pairs: 0, seed: 1).isEmpty)
        #expect(PairedOrder.turns(pairs: -3, seed: 1).isEmpty)
        #expect(PairedOrder.turns(pairs: 1, seed: 1).count == 2)
        #expect(PairedOrder.turns(pairs: 3, seed: 1).map(\.pair) == [0, 0, 1, 1, 2, 2])
    }

    /// The numbers that its authors' program prints for the seed 1234567.
    @Test func generatorIsSplitMix64() {
        var generator = SeededGenerator(seed: 1_234_567)
        #expect(generator.next() == 6_457_827_717_110_365_317)
        #expect(generator.next() == 3_203_168_211_198_807_973)
        #expect(generator.next() == 9_817_491_932_198_370_423)
    }
}
