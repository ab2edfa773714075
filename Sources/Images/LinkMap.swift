package import ProcessIO
import ProfileModel

/// A library (or the program itself) in the dynamic linker's list; see <link.h>.
package struct LinkedObject: Sendable {
    /// Add this to an address in the file to get the one in memory.
    package var bias: UInt64
    /// The path at which the linker found it; empty for the program.
    package var path: String
    /// Where its dynamic section is in memory.
    package var dynamicAddress: UInt64

    package init(bias: UInt64, path: String, dynamicAddress: UInt64) {
        self.bias = bias
        self.path = path
        self.dynamicAddress = dynamicAddress
    }

    /// Reads the dynamic section as it is now. Few callers need it.
    package func dynamic(_ memory: TargetMemory) -> DynamicSection {
        DynamicSection(at: dynamicAddress, bias: bias, memory: memory)
    }
}

/// The list of loaded libraries, read from the process's memory.
package enum LinkMap {
    /// Programs have some hundreds. The list may be damaged, or made by an attacker.
    private static let mostObjects = 4096
    private static let longestPath = 4096

    /// - Parameter debug: the address of `r_debug`, whose second word is the list's head.
    package static func objects(debug: UInt64, memory: TargetMemory) -> [LinkedObject] {
        var objects: [LinkedObject] = []
        var next = memory.word(at: debug &+ 8) ?? 0
        while next != 0, objects.count < mostObjects {
            let entry = memory.read(at: next, count: entrySize)
            guard var object = object(entry, memory) else { break }
            // The first entry is the program. musl's list gives it a name.
            if objects.isEmpty { object.path = "" }
            objects.append(object)
            next = entry.littleEndianWord(at: 24) ?? 0
        }
        return objects
    }

    /// l_addr, l_name, l_ld, l_next.
    private static let entrySize = 32

    /// - Parameter address: the address of a `struct link_map`.
    package static func object(at address: UInt64, memory: TargetMemory) -> LinkedObject? {
        object(memory.read(at: address, count: entrySize), memory)
    }

    private static func object(_ entry: [UInt8], _ memory: TargetMemory) -> LinkedObject? {
        guard let bias = entry.littleEndianWord(at: 0), let name = entry.littleEndianWord(at: 8),
            let dynamic = entry.littleEndianWord(at: 16)
        else { return nil }
        return LinkedObject(
            bias: bias, path: memory.text(at: name, limit: longestPath), dynamicAddress: dynamic)
    }
}

/// The entries of a dynamic section that we use; see elf(5).
package struct DynamicSection: Sendable {
    package enum Tag {
        package static let needed: UInt64 = 1
        package static let strings: UInt64 = 5
        package static let relocations: UInt64 = 7
        package static let relocationsSize: UInt64 = 8
        package static let initializer: UInt64 = 12
        package static let soname: UInt64 = 14
        package static let initializers: UInt64 = 25
        package static let initializersSize: UInt64 = 27
        /// `DT_FLAGS_1`; its bit `DF_1_PIE` marks a program.
        package static let flags: UInt64 = 0x6FFF_FFFB
        package static let preinitializers: UInt64 = 32
        package static let preinitializersSize: UInt64 = 33
        /// `DT_RELR`.
        package static let packed: UInt64 = 36
        package static let packedSize: UInt64 = 35
    }

    /// In their order: tag, value, and the value's address in memory.
    private var entries: [(tag: UInt64, value: UInt64, address: UInt64)] = []
    private let bias: UInt64
    private static let mostEntries = 512
    /// Entries per read: libraries have some thirty.
    private static let usualEntries = 64

    package init(at address: UInt64, bias: UInt64, memory: TargetMemory) {
        self.bias = bias
        var next = address
        while entries.count < Self.mostEntries {
            let bytes = memory.read(at: next, count: 16 * Self.usualEntries)
            for offset in stride(from: 0, to: bytes.count, by: 16) {
                guard let tag = bytes.littleEndianWord(at: offset),
                    let value = bytes.littleEndianWord(at: offset + 8), tag != 0
                else { return }
                entries.append((tag, value, next &+ UInt64(offset) &+ 8))
            }
            guard bytes.count == 16 * Self.usualEntries else { return }
            next = next &+ UInt64(bytes.count)
        }
    }

    /// The value of a tag that occurs once, and the value's address.
    package func value(_ tag: UInt64) -> (value: UInt64, address: UInt64)? {
        entries.first { $0.tag == tag }.map { ($0.value, $0.address) }
    }

    /// The address in the process that a tag holds. The linker relocates some tags in place.
    package func location(_ tag: UInt64) -> UInt64? {
        guard let value = value(tag)?.value else { return nil }
        return value < bias ? value &+ bias : value
    }

    /// The names of the libraries that it needs, and its own name; read in one go.
    package func names(memory: TargetMemory) -> (needed: [String], soname: String?) {
        guard let strings = location(Tag.strings) else { return ([], nil) }
        let named = entries.filter { $0.tag == Tag.needed }.map(\.value)
        let soname = value(Tag.soname)?.value
        var names = memory.texts(
            at: (named + (soname.map { [$0] } ?? [])).map { strings &+ $0 },
            limit: Self.longestName)
        let own = soname == nil ? nil : names.popLast()
        return (names, own)
    }

    private static let longestName = 256
}

extension TargetMemory {
    private static let usualText = 128

    /// The text up to its zero, at most `limit` bytes, as far as it can be read.
    package func text(at address: UInt64, limit: Int) -> String {
        var bytes = read(at: address, count: min(limit, Self.usualText))
        if !bytes.contains(0), limit > Self.usualText { bytes = read(at: address, count: limit) }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The same for several addresses, read in one go.
    package func texts(at addresses: [UInt64], limit: Int) -> [String] {
        let size = min(limit, Self.usualText)
        let bytes = read(at: addresses, count: size)
        return addresses.indices.map { index in
            let text = bytes[(index * size)..<((index + 1) * size)].prefix { $0 != 0 }
            // A piece that cannot be read as a whole is zeroes.
            return text.isEmpty || text.count == size
                ? self.text(at: addresses[index], limit: limit)
                : String(decoding: text, as: UTF8.self)
        }
    }
}

extension LinkedObject {
    /// The name by which other libraries need this one.
    package func name(_ memory: TargetMemory) -> String {
        name(dynamic(memory).names(memory: memory).soname)
    }

    /// The same, if its own name for itself is known; nil: it has none.
    package func name(_ soname: String?) -> String {
        soname ?? path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Where we can read its file. nil: it has no file, only a name (the vdso).
    package func file(of process: any ProcessAccess) -> String? {
        path.isEmpty ? process.programFile : process.place(of: path)
    }

    package func image(_ memory: TargetMemory) -> LoadedImage? {
        LoadedImage(base: bias, memory: memory)
    }

    /// Its size in the address space, in bytes.
    package func size(_ memory: TargetMemory) -> Int64 {
        let segments = image(memory)?.segments ?? []
        let loaded = segments.filter { $0.kind == 1 }
        guard let start = loaded.map(\.start).min(),
            let end = loaded.map({ $0.start &+ $0.size }).max(), end > start
        else { return 0 }
        return Int64(clamping: end - start)
    }
}
