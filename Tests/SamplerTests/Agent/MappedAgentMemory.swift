import CAgent
import CSystem
import Glibc
import Testing

@testable import Agent
@testable import Sampler

/// An area that our own process has mapped once more, as a program has it: its code runs here.
///
/// Unsafe code: the mapping is as large as the area and lives as long as this.
final class MappedAgentMemory {
    let area: AgentMemory
    let program: UnsafeMutableRawPointer

    init(stackBytes: Int = 4096) throws {
        area = try #require(AgentMemory(stackBytes: stackBytes))
        program = try #require(fl_map_memory(area.inheritable, area.size))
        try #require(mprotect(program, Int(FL_STATE), PROT_READ | PROT_EXEC) == 0)
    }

    deinit { munmap(program, area.size) }

    var address: UInt64 { UInt64(UInt(bitPattern: program)) }

    /// Fills it in, and has our code settle, as the piece that brings an area in does.
    ///
    /// - Parameter prepare: called when it has been filled in.
    func settle(
        _ change: (inout AgentMemory.Contents) -> Void = { _ in },
        prepare: (AgentMemory) -> Void = { _ in }
    ) {
        var contents = AgentMemory.Contents(place: address, recorder: 0, cookie: 0x1234_5678_9ABC)
        change(&contents)
        area.fill(contents)
        prepare(area)
        #expect(area.open())
        typealias Settle = @convention(c) (Int32) -> Void
        // The arrival's code calls this place.
        function(at: 0x200, as: Settle.self)(area.inheritable)
    }

    func function<Function>(at offset: UInt64, as type: Function.Type) -> Function {
        unsafeBitCast(program + Int(offset), to: type)
    }

    /// The function that the dynamic linker calls when its list changes.
    func tellOfChange() {
        function(at: AgentCode.debugState, as: (@convention(c) () -> Void).self)()
    }

    /// The function that the C library calls in main's place.
    func begin() -> Int32 {
        typealias Main =
            @convention(c) (Int32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32
        return function(at: AgentCode.main, as: Main.self)(1, nil, nil)
    }

    /// The libraries' and opens' own words, written as the program would write them.
    func store<Value: BitwiseCopyable>(_ value: Value, at offset: Int) {
        program.storeBytes(of: value, toByteOffset: offset, as: Value.self)
    }

    func setProcess(_ pid: UInt32) {
        store(pid, at: Int(FL_STATE) + (MemoryLayout<fl_state>.offset(of: \.pid) ?? 0))
    }
}

/// A test's model of the dynamic linker: its public list (<link.h>), and how it runs a library's
/// initialisers.
///
/// Unsafe code: all of it lies within one block of memory.
final class MadeLinker {
    typealias Initializer =
        @convention(c) (
            Int32, UnsafeMutablePointer<Int32>?, UnsafeMutableRawPointer?
        ) -> Void

    private static let mapSize = 1024
    private static let most = 32
    private let memory = UnsafeMutableRawPointer.allocate(
        byteCount: 64 + most * mapSize, alignment: 16)
    private(set) var count = 0
    private var keptNames: [UnsafeMutablePointer<CChar>?] = []

    enum State: Int32 {
        case consistent = 0
        case adds = 1
        case removes = 2
    }

    init() { memory.initializeMemory(as: UInt8.self, repeating: 0, count: 64 + 32 * 1024) }

    deinit {
        memory.deallocate()
        keptNames.forEach { free($0) }
    }

    /// Of `struct r_debug`.
    var address: UInt64 { UInt64(UInt(bitPattern: memory)) }

    func set(_ state: State) {
        memory.storeBytes(of: state.rawValue, toByteOffset: 24, as: Int32.self)
    }

    private func map(_ index: Int) -> UnsafeMutableRawPointer { memory + 64 + index * Self.mapSize }
    func mapAddress(_ index: Int) -> UInt64 { UInt64(UInt(bitPattern: map(index))) }

    private func word(_ map: UnsafeMutableRawPointer, _ offset: Int) -> UInt64 {
        map.load(fromByteOffset: offset, as: UInt64.self)
    }

    private static let info = 64
    private static let dynamic = 320
    private static let array = 512

    /// Puts a library at the list's end.
    ///
    /// - Parameter isKnown: whether the linker's private words are where they are looked for.
    @discardableResult
    func add(
        _ name: String, bias: UInt64 = 0x1000, initializer: Initializer? = nil,
        array: [Initializer] = [], isKnown: Bool = true
    ) -> Int {
        precondition(count < Self.most && array.count <= 64)
        let map = map(count)
        let text = strdup(name)
        keptNames.append(text)
        var entries: [(tag: UInt64, value: UInt64)] = [(5, 8), (6, 8)]
        if let initializer {
            entries.append((12, unsafeBitCast(initializer, to: UInt64.self) &- bias))
        }
        if !array.isEmpty {
            entries.append((25, UInt64(UInt(bitPattern: map + Self.array)) &- bias))
            entries.append((27, UInt64(8 * array.count)))
        }
        for (index, function) in array.enumerated() {
            map.storeBytes(
                of: unsafeBitCast(function, to: UInt64.self),
                toByteOffset: Self.array + 8 * index, as: UInt64.self)
        }
        for (index, entry) in entries.enumerated() {
            let offset = Self.dynamic + 16 * index
            map.storeBytes(of: entry.tag, toByteOffset: offset, as: UInt64.self)
            map.storeBytes(of: entry.value, toByteOffset: offset + 8, as: UInt64.self)
            let place = isKnown ? UInt64(UInt(bitPattern: map + offset)) : 0
            map.storeBytes(
                of: place, toByteOffset: Self.info + 8 * Int(entry.tag), as: UInt64.self)
        }
        map.storeBytes(of: bias, toByteOffset: 0, as: UInt64.self)
        map.storeBytes(of: UInt64(UInt(bitPattern: text)), toByteOffset: 8, as: UInt64.self)
        map.storeBytes(
            of: UInt64(UInt(bitPattern: map + Self.dynamic)), toByteOffset: 16, as: UInt64.self)
        let link = count == 0 ? memory + 8 : self.map(count - 1) + 24
        link.storeBytes(of: mapAddress(count), as: UInt64.self)
        count += 1
        return count - 1
    }

    /// Where a library's entry of a tag is, as the linker finds it.
    func entry(_ tag: Int, of index: Int) -> UInt64 { word(map(index), Self.info + 8 * tag) }

    /// Where the library's own entries are.
    func ownEntries(of index: Int) -> Range<UInt64> {
        let start = mapAddress(index) + UInt64(Self.dynamic)
        return start..<(start + 192)
    }

    /// Where a library's dynamic section is, as musl's linker finds it.
    func section(of index: Int) -> UInt64 { word(map(index), 16) }

    /// Runs a library's initialisers as glibc's linker does, by pointers to entries.
    func runInitializers(
        of index: Int, count: Int32 = 3, log: UnsafeMutablePointer<Int32>,
        environment: UnsafeMutableRawPointer? = nil
    ) {
        run(of: index, count, log, environment) { tag in
            UnsafeRawPointer(bitPattern: UInt(self.entry(tag, of: index)))?
                .load(fromByteOffset: 8, as: UInt64.self)
        }
    }

    /// The same as musl's does, which reads the section.
    func runInitializersBySection(of index: Int, log: UnsafeMutablePointer<Int32>) {
        var values: [Int: UInt64] = [:]
        var entry = UnsafeRawPointer(bitPattern: UInt(section(of: index)))
        while let place = entry, place.load(as: UInt64.self) != 0 {
            values[Int(place.load(as: UInt64.self))] = place.load(
                fromByteOffset: 8, as: UInt64.self)
            entry = place + 16
        }
        run(of: index, 3, log, nil) { values[$0] }
    }

    private func run(
        of index: Int, _ count: Int32, _ log: UnsafeMutablePointer<Int32>,
        _ environment: UnsafeMutableRawPointer?, value: (_ tag: Int) -> UInt64?
    ) {
        let bias = word(map(index), 0)
        func call(_ address: UInt64) {
            guard let code = UnsafeRawPointer(bitPattern: UInt(address)) else { return }
            unsafeBitCast(code, to: Initializer.self)(count, log, environment)
        }
        if let initializer = value(12) { call(bias &+ initializer) }
        guard let array = value(25), let size = value(27),
            let functions = UnsafeRawPointer(bitPattern: UInt(bias &+ array))
        else { return }
        for number in 0..<Int(size / 8) {
            call(functions.load(fromByteOffset: 8 * number, as: UInt64.self))
        }
    }
}
