import ProfileModel
import TestSupport
import Testing

@testable import Unwind

@Suite struct RuleCacheTests {
    @Test func rulesInOneSlotAreNotMixedUp() {
        let cache = RuleCache(bits: RuleCache.largeBits)
        var random = SeededNumbers(seed: 37)
        // Four times as many as there are slots.
        let addresses = (0..<131_072).map { _ in random.next() | 1 }
        var made = 0
        for address in addresses + addresses {
            let entry = cache.slot(of: address)
            if entry.pointee.address != address {
                made += 1
                entry.pointee = CachedRule(
                    address: address, bias: address / 2, rule: UnwindRule(.end), module: 3)
            }
            #expect(cache.slot(of: address).pointee.bias == address / 2)
        }
        #expect(made >= addresses.count)
        cache.removeAll()
        #expect(addresses.allSatisfy { cache.slot(of: $0).pointee.address == 0 })
    }

    @Test func noCodeLiesAtZero() {
        let cache = RuleCache(bits: RuleCache.largeBits)
        let entry = withExtendedLifetime(cache) { cache.slot(of: 0).pointee }
        #expect(entry.address == 0 && entry.rule.kind == .unmapped && entry.module == -1)
    }

    /// They must stay small enough for the processor's cache.
    @Test func anEntryIsFewBytes() {
        #expect(MemoryLayout<CachedRule>.stride <= 32)
        #expect(MemoryLayout<UnwindRule>.stride <= 8)
        #expect(MemoryLayout<WalkFrame>.stride <= 16)
    }

    /// New mappings beside those that were there leave it alone; others must not.
    @Test func changedMappingsEmptyIt() throws {
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
        let further = CodeMapping(
            start: 0x9000_0000, end: 0x9001_0000, fileOffset: 0, path: "", inode: 0)
        _ = made.unwinder.update(made.mappings + [further], at: MonotonicTime(nanoseconds: 1))
        #expect(misses() == 2)
        made.update()
        #expect(misses() == 4)
        // The code is not there any more: its rules must not survive.
        _ = made.unwinder.update([], at: MonotonicTime(nanoseconds: 1))
        #expect(made.unwind(from: leaf, [entry]).truncation == .unmappedCode)
    }

    @Test func laterMappingsAreFound() throws {
        let made = try HandMade()
        let leaf = try made.address("plain")
        let later: UInt64 = 0x9000_0010
        #expect(made.unwind(from: leaf, [later]).truncation == .unmappedCode)
        let further = CodeMapping(
            start: 0x9000_0000, end: 0x9001_0000, fileOffset: 0, path: "", inode: 0)
        _ = made.unwinder.update(made.mappings + [further], at: MonotonicTime(nanoseconds: 1))
        let stack = made.unwind(from: leaf, framePointer: 0, [later])
        #expect(stack.truncation == nil && stack.frames.count == 2)
    }
}
