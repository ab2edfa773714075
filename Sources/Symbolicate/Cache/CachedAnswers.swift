internal import ELF
package import ProfileModel

/// The answers of one module in the form of a cache file.
///
/// The file consists of one or more ``Parcel``s, one after another, so that adding answers costs
/// only the new parcel. Each begins with the numbers of texts, frames and addresses, 4 bytes each,
/// and 4 unused bytes. Then come: the addresses, ascending, 8 bytes each, with their first frame
/// and number of frames; the frames, five numbers of 4 bytes each (the texts of the function, its
/// linkage name and the file, 0xFFFFFFFF for none; the line, 0 for none; and flags); the end of
/// each text, counted from the first; the texts.
///
/// An answer is read only when it is needed, and only then checked.
package struct CachedAnswers: @unchecked Sendable {
    private var parts: [Part] = []
    /// Answers that are not in a file yet.
    private var added: [UInt64: [SourceFrame]] = [:]
    /// The file that holds the parts.
    private var file: MappedFile?

    /// Larger files are neither written nor read.
    static let mostBytes = 64 << 20
    private static let mostAddresses = 200_000
    /// More parcels than this are merged into one.
    private static let mostParts = 16

    package init(_ frames: [UInt64: [SourceFrame]] = [:]) { added = frames }

    /// nil if the file is damaged, of another version, or for other debug information.
    init?(_ file: MappedFile, identity: [UInt8]) {
        self.init(parts: file.bytes, identity: identity)
        self.file = file
    }

    private init?(parts bytes: UnsafeRawBufferPointer, identity: [UInt8]) {
        var rest = bytes
        repeat {
            guard let parcel = Parcel(.answers, rest, identity: identity),
                let part = Part(parcel.content)
            else { return nil }
            parts.append(part)
            rest = UnsafeRawBufferPointer(rebasing: rest[parcel.size...])
        } while !rest.isEmpty
    }

    /// The known frames at the addresses; unknown addresses are left out.
    package mutating func frames(at addresses: some Sequence<UInt64>) -> [UInt64: [SourceFrame]] {
        var result: [UInt64: [SourceFrame]] = [:]
        for address in addresses {
            if let frames = frames(at: address) { result[address] = frames }
        }
        return result
    }

    private mutating func frames(at address: UInt64) -> [SourceFrame]? {
        if let own = added[address] { return own }
        for index in parts.indices.reversed() {
            if let frames = parts[index].frames(at: address) { return frames }
        }
        return nil
    }

    /// All known answers.
    package var all: [UInt64: [SourceFrame]] {
        var copy = self
        return copy.frames(at: parts.flatMap(\.addresses) + added.keys)
    }

    /// Adds new answers; if there would be too many, only the new ones remain.
    package mutating func add(_ found: [UInt64: [SourceFrame]]) {
        let count = parts.reduce(added.count) { $0 + $1.count }
        if count + found.count > Self.mostAddresses { self = CachedAnswers() }
        added.merge(found) { $1 }
    }

    /// True if ``encoded(identity:)`` must be appended to the existing file.
    var areBehindOthers: Bool { (1..<Self.mostParts).contains(parts.count) }

    /// The added answers, or all, as one parcel; empty if they are too large.
    package func encoded(identity: [UInt8]) -> [UInt8] {
        let content = Part.encode(areBehindOthers ? added : all)
        let bytes = Parcel.sealed(.answers, identity: identity, content)
        return bytes.count <= Self.mostBytes ? bytes : []
    }

    /// The answers in a file with these bytes.
    package static func decode(
        _ bytes: [UInt8], identity: [UInt8]
    ) -> [UInt64: [SourceFrame]]? {
        bytes.withUnsafeBytes { CachedAnswers(parts: $0, identity: identity)?.all }
    }
}

/// The answers in one parcel.
private struct Part {
    let count: Int
    private let frameCount: Int
    private let textCount: Int
    private let places: UnsafeRawBufferPointer
    private let frames: UnsafeRawBufferPointer
    private let ends: UnsafeRawBufferPointer
    private let texts: UnsafeRawBufferPointer
    /// The texts read so far, by number.
    private var known: [String?]

    private static let nothing = UInt32.max
    private static let headerSize = 16
    private static let placeSize = 16
    private static let frameSize = 20

    init?(_ content: UnsafeRawBufferPointer) {
        var cursor = ByteCursor(content, at: 0)
        textCount = Int(cursor.number(UInt32.self))
        frameCount = Int(cursor.number(UInt32.self))
        count = Int(cursor.number(UInt32.self))
        cursor.skip(4)
        func next(_ size: Int) -> UnsafeRawBufferPointer {
            let start = cursor.position
            cursor.skip(size)
            return UnsafeRawBufferPointer(rebasing: content[start..<cursor.position])
        }
        // Each number has 32 bits, so nothing overflows.
        places = next(count * Self.placeSize)
        frames = next(frameCount * Self.frameSize)
        ends = next(textCount * 4)
        guard !cursor.isBroken else { return nil }
        texts = next(content.count - cursor.position)
        known = Array(repeating: nil, count: textCount)
    }

    var addresses: [UInt64] { (0..<count).compactMap(address) }

    private func address(_ index: Int) -> UInt64? {
        places.number(UInt64.self, at: index * Self.placeSize)
    }

    mutating func frames(at address: UInt64) -> [SourceFrame]? {
        let index = (0..<count).partitionIndex { self.address($0) ?? 0 >= address }
        guard index < count, self.address(index) == address else { return nil }
        var cursor = ByteCursor(places, at: index * Self.placeSize + 8)
        let first = Int(cursor.number(UInt32.self))
        let size = Int(cursor.number(UInt32.self))
        guard size > 0, first <= frameCount, size <= frameCount - first else { return nil }
        cursor = ByteCursor(frames, at: first * Self.frameSize)
        var result: [SourceFrame] = []
        result.reserveCapacity(size)
        for _ in 0..<size {
            guard let frame = frame(&cursor) else { return nil }
            result.append(frame)
        }
        return result
    }

    private mutating func frame(_ cursor: inout ByteCursor) -> SourceFrame? {
        guard let function = text(cursor.number(UInt32.self)),
            let linkage = text(cursor.number(UInt32.self)),
            let file = text(cursor.number(UInt32.self))
        else { return nil }
        let line = Int32(bitPattern: cursor.number(UInt32.self))
        let flags = cursor.number(UInt32.self)
        guard line >= 0, flags < 4 else { return nil }
        return SourceFrame(
            function: function, file: file, line: line > 0 ? line : nil, isInlined: flags & 1 != 0,
            isUnoptimized: flags & 2 != 0, linkageName: linkage)
    }

    /// The text with a number, which may stand for none; nil if there is no such number.
    private mutating func text(_ number: UInt32) -> String?? {
        if number == Self.nothing { return .some(nil) }
        let index = Int(number)
        guard index < textCount else { return nil }
        if let text = known[index] { return text }
        guard let end = ends.number(UInt32.self, at: index * 4).map(Int.init),
            let start = index == 0 ? 0 : ends.number(UInt32.self, at: index * 4 - 4).map(Int.init),
            start <= end, end <= texts.count
        else { return nil }
        let text = String(decoding: texts[start..<end], as: UTF8.self)
        known[index] = text
        return text
    }

    // MARK: - Writing

    static func encode(_ answers: [UInt64: [SourceFrame]]) -> [UInt8] {
        var texts = Texts()
        var places = Parcel.Encoder()
        var frames = Parcel.Encoder()
        var frameCount = 0
        for address in answers.keys.sorted() {
            let own = answers[address] ?? []
            places.add(address)
            places.add(UInt32(truncatingIfNeeded: frameCount))
            places.add(UInt32(truncatingIfNeeded: own.count))
            frameCount += own.count
            for frame in own {
                frames.add(texts.number(of: frame.function))
                frames.add(texts.number(of: frame.linkageName))
                frames.add(texts.number(of: frame.file))
                frames.add(UInt32(bitPattern: frame.line ?? 0))
                frames.add(UInt32(frame.isInlined ? 1 : 0) | (frame.isUnoptimized ? 2 : 0))
            }
        }
        var content = Parcel.Encoder()
        for number in [texts.count, frameCount, answers.count, 0] {
            content.add(UInt32(clamping: number))
        }
        return content.bytes + places.bytes + frames.bytes + texts.ends.bytes + texts.bytes
    }

    private struct Texts {
        private(set) var bytes: [UInt8] = []
        private(set) var ends = Parcel.Encoder()
        private(set) var count = 0
        private var numbers: [String: UInt32] = [:]

        mutating func number(of text: String?) -> UInt32 {
            guard let text else { return nothing }
            if let known = numbers[text] { return known }
            let number = UInt32(truncatingIfNeeded: count)
            numbers[text] = number
            count += 1
            bytes += text.utf8
            ends.add(UInt32(clamping: bytes.count))
            return number
        }
    }
}
