import ProfileModel
import TestSupport
import Testing

@testable import Unwind

@Suite struct RuleCacheTests {
    private static func entry(_ address: UInt64) -> CachedRule {
        CachedRule(address: address, bias: address / 2, module: 3, rule: UnwindRule(.end))
    }

    @Test func anEntryIsMadeOnce() {
        var cache = RuleCache()
        var made: [UInt64] = []
        for _ in 0..<3 {
            let found = cache.entry(for: 0x1000) { address in
                made.append(address)
                return Self.entry(address)
            }
            #expect(found.bias == 0x800 && found.module == 3)
        }
        #expect(made == [0x1000])
        #expect(cache.hits == 2 && cache.misses == 1)
        cache.removeAll()
        _ = cache.entry(for: 0x1000) { Self.entry($0) }
        #expect(cache.misses == 2)
    }

    @Test func whateverSharesASlotIsNotMixedUp() {
        var cache = RuleCache()
        var random = SeededNumbers(seed: 37)
        // Four times as many as there are slots.
        let addresses = (0..<65_536).map { _ in random.next() | 1 }
        for address in addresses + addresses {
            let found = cache.entry(for: address) { Self.entry($0) }
            #expect(found.address == address)
        }
        #expect(cache.hits + cache.misses == 2 * addresses.count)
        #expect(cache.misses >= addresses.count)
    }

    @Test func noCodeLiesAtZero() {
        var cache = RuleCache()
        let found = cache.entry(for: 0) { Self.entry($0) }
        #expect(found.rule.kind == .unmapped)
    }

    /// It must stay small enough for the processor's cache.
    @Test func anEntryIsFewBytes() {
        #expect(MemoryLayout<CachedRule>.stride <= 32)
        #expect(MemoryLayout<UnwindRule>.stride <= 12)
    }

    @Test func newMappingsEmptyIt() throws {
        let made = try HandMade()
        let leaf = try made.address("plain")
        let entry = try made.address("entry", 1)
        func misses() -> Int {
            let stack = made.unwind(from: leaf, [entry])
            #expect(stack.truncation == nil && stack.frames.count == 2)
            return made.unwinder.cacheFigures.misses
        }
        #expect(misses() == 2)
        #expect(misses() == 2)
        #expect(made.unwinder.cacheFigures.hits == 2)
        made.update()
        #expect(misses() == 4)
        // Not there any more: what was known must not survive.
        _ = made.unwinder.update([], at: MonotonicTime(nanoseconds: 1))
        #expect(made.unwind(from: leaf, [entry]).truncation == .unmappedCode)
    }
}
