import Architecture
import ELF
import Glibc
import ProcessIO
import ProfileModel

/// A static program's initialisers: the words of its arrays, which the start code calls one after
/// another. Read while the program is stopped at its first instruction.
package struct StaticInitializers: Hashable, Sendable {
    package struct Word: Hashable, Sendable {
        /// Where the word is.
        package var address: UInt64
        /// Where to write so that the word leads elsewhere: the word itself, or the number from
        /// which the program computes the word when it relocates itself.
        package var source: UInt64
        /// The function that the word leads to after relocation.
        package var function: UInt64
    }

    /// In the order in which they run.
    package let words: [Word]
    /// The number that the program adds to the sources; 0 if the sources are the words themselves.
    package let bias: UInt64
    /// True if the words cannot be written any more once they have been called.
    package let isProtected: Bool

    /// Our code has no room for more words.
    package static let mostWords = 1024
}

extension StaticInitializers {
    /// nil: there are none, too many, or we cannot know them for certain.
    ///
    /// - Parameter path: where its file is.
    package init?(_ program: LoadedImage, ofFile path: @autoclosure () -> String) {
        let dynamic = program.segments.first { $0.kind == 2 }.map {
            DynamicSection(at: $0.start, bias: program.bias, memory: program.memory)
        }
        let found = dynamic.map { Self.arrays($0) } ?? Self.arrays(ofFile: path())
        guard let arrays = found else { return nil }
        let addresses = arrays.flatMap { stride(from: $0.lowerBound, to: $0.upperBound, by: 8) }
        guard let first = addresses.first, addresses.count <= Self.mostWords,
            addresses.allSatisfy({ program.isWritable($0) })
        else { return nil }
        if let dynamic {
            let relocated = Self.relocated(addresses, dynamic, program)
            words = addresses.compactMap { relocated[$0] }
            bias = program.bias
        } else {
            words = addresses.compactMap { address in
                program.memory.word(at: address).map {
                    Word(address: address, source: address, function: $0)
                }
            }
            bias = 0
        }
        isProtected = program.isProtected(first)
        guard words.count == addresses.count,
            words.allSatisfy({ program.isExecutable($0.function) }),
            words.allSatisfy({ program.isProtected($0.address) == isProtected })
        else { return nil }
    }

    /// The arrays of a program that relocates itself. nil: one of them is impossible.
    private static func arrays(_ dynamic: DynamicSection) -> [Range<UInt64>]? {
        let tags = [
            (DynamicSection.Tag.preinitializers, DynamicSection.Tag.preinitializersSize),
            (DynamicSection.Tag.initializers, DynamicSection.Tag.initializersSize),
        ]
        return arrays(
            tags.compactMap { start, size in
                guard let start = dynamic.location(start), let size = dynamic.value(size)?.value
                else { return nil }
                return (start, size)
            })
    }

    private static func arrays(_ places: [(start: UInt64, size: UInt64)]) -> [Range<UInt64>]? {
        var arrays: [Range<UInt64>] = []
        for (start, size) in places where size > 0 {
            guard start % 8 == 0, size % 8 == 0, size <= 8 * UInt64(mostWords),
                start <= .max - size
            else { return nil }
            arrays.append(start..<(start + size))
        }
        return arrays
    }

    /// The relocations that make addresses of the words.
    private static func relocated(
        _ addresses: [UInt64], _ dynamic: DynamicSection, _ program: LoadedImage
    ) -> [UInt64: Word] {
        guard let table = dynamic.location(DynamicSection.Tag.relocations),
            let size = dynamic.value(DynamicSection.Tag.relocationsSize)?.value,
            size <= Relocation.mostBytes
        else { return [:] }
        let wanted = Set(addresses)
        let bytes = program.memory.read(at: table, count: Int(size))
        var found: [UInt64: Word] = [:]
        for relocation in Relocation.all(in: bytes) {
            let address = relocation.place &+ program.bias
            guard wanted.contains(address) else { continue }
            // With two relocations of one word, or one of another kind, the result is unknown.
            guard relocation.kind == RelocationKind.relative, found[address] == nil else {
                return [:]
            }
            found[address] = Word(
                address: address,
                source: table &+ UInt64(relocation.offset) &+ Relocation.addendOffset,
                function: relocation.addend &+ program.bias)
        }
        return found
    }

    // MARK: The file

    private static let (initArray, preinitArray): (UInt32, UInt32) = (14, 16)

    /// The arrays of a program at a fixed address. Only its sections describe them, and these are
    /// not in its memory (elf(5)).
    package static func arrays(ofFile path: String) -> [Range<UInt64>]? {
        guard let sections = (try? ELFFile(path: path, access: .read))?.sections, !sections.isEmpty
        else { return nil }
        return arrays(
            [preinitArray, initArray].flatMap { kind in
                sections.filter { $0.type == kind }.map { ($0.address, $0.size) }
            })
    }
}
