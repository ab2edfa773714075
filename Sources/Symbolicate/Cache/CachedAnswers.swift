package import ProfileModel

/// The answers of one module as a file of the cache has them.
///
/// Layout: parts, one behind the other, each of which is complete in itself, so that what is added
/// is all that has to be put together. A part, little-endian: `FLSYMBOL`; the format's version and
/// the CRC-32 of all that follows in it, 4 bytes each; then numbers of 4 bytes: how many bytes
/// follow them, the identity's size, how many texts, frames and addresses there are; the identity;
/// the texts, each with its size before it; the frames, five numbers each (the function's,
/// its linkage name's and the file's text, 0xFFFFFFFF for none, the line, 0 for none, and flags); the addresses, ascending,
/// each 8 bytes with its first frame and how many it has.
package struct CachedAnswers: Sendable {
    private(set) package var frames: [UInt64: [SourceFrame]] = [:]
    /// What is not in a file yet.
    private var added: [UInt64: [SourceFrame]] = [:]
    /// The file that the others came from.
    private var file: [UInt8] = []
    private var partCount = 0

    /// Beyond this a file is neither written nor read.
    static let mostBytes = 64 << 20
    private static let mostAddresses = 200_000
    /// More are put together to one.
    private static let mostParts = 16
    private static let magic = Array("FLSYMBOL".utf8)
    private static let nothing = UInt32.max
    private static let frameSize = 20
    private static let addressSize = 16

    package init(_ frames: [UInt64: [SourceFrame]] = [:]) { add(frames) }

    /// Adds what was found now; where that is too much, only it remains.
    package mutating func add(_ found: [UInt64: [SourceFrame]]) {
        if frames.count + found.count > Self.mostAddresses { self = CachedAnswers() }
        frames.merge(found) { $1 }
        added.merge(found) { $1 }
    }

    // MARK: - Writing

    /// The file's bytes; empty if they are too many.
    package func encoded(identity: [UInt8]) -> [UInt8] {
        let isFull = partCount >= Self.mostParts
        let bytes =
            (isFull ? [] : file) + Self.encode(isFull ? frames : added, identity: identity)
        return bytes.count <= Self.mostBytes ? bytes : []
    }

    private static func encode(
        _ frames: [UInt64: [SourceFrame]], identity: [UInt8]
    ) -> [UInt8] {
        var texts = Texts()
        var places = Encoder()
        var described = Encoder()
        var frameCount = 0
        for address in frames.keys.sorted() {
            let own = frames[address] ?? []
            places.add(address)
            places.add(UInt32(truncatingIfNeeded: frameCount))
            places.add(UInt32(truncatingIfNeeded: own.count))
            frameCount += own.count
            for frame in own {
                described.add(texts.number(of: frame.function))
                described.add(texts.number(of: frame.linkageName))
                described.add(texts.number(of: frame.file))
                described.add(UInt32(bitPattern: frame.line ?? 0))
                described.add(UInt32(frame.isInlined ? 1 : 0) | (frame.isUnoptimized ? 2 : 0))
            }
        }
        let content = [identity, texts.encoder.bytes, described.bytes, places.bytes]
        var body = Encoder()
        let size = content.reduce(0) { $0 + $1.count }
        for number in [size, identity.count, texts.count, frameCount, frames.count] {
            body.add(UInt32(clamping: number))
        }
        for bytes in content { body.bytes += bytes }
        var part = Encoder()
        part.bytes = magic
        part.add(SymbolCache.version)
        part.add(body.bytes.withUnsafeBytes(Checksum.crc32))
        return part.bytes + body.bytes
    }

    private struct Encoder {
        var bytes: [UInt8] = []

        mutating func add<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }
    }

    private struct Texts {
        private(set) var encoder = Encoder()
        private(set) var count = 0
        private var numbers: [String: UInt32] = [:]

        mutating func number(of text: String?) -> UInt32 {
            guard let text else { return nothing }
            if let known = numbers[text] { return known }
            let number = UInt32(truncatingIfNeeded: count)
            numbers[text] = number
            count += 1
            encoder.add(UInt32(truncatingIfNeeded: text.utf8.count))
            encoder.bytes += text.utf8
            return number
        }
    }

    // MARK: - Reading

    /// nil when the file is damaged, of another version, or of other debug information.
    package init?(_ bytes: [UInt8], identity: [UInt8]) {
        file = bytes
        var offset = 0
        repeat {
            let part = bytes.withUnsafeBytes { bytes in
                Self.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...]), identity: identity)
            }
            guard let part else { return nil }
            frames.merge(part.frames) { $1 }
            offset += part.size
            partCount += 1
        } while offset < bytes.count
    }

    private static let headerSize = magic.count + 8
    private static let numberCount = 5

    /// - Returns: what the first part has, and its size.
    private static func decode(
        _ bytes: UnsafeRawBufferPointer, identity: [UInt8]
    ) -> (frames: [UInt64: [SourceFrame]], size: Int)? {
        guard bytes.count > headerSize, bytes.prefix(magic.count).elementsEqual(magic),
            bytes.number(UInt32.self, at: magic.count) == SymbolCache.version,
            let checksum = bytes.number(UInt32.self, at: magic.count + 4)
        else { return nil }
        var cursor = ByteCursor(bytes, at: headerSize)
        let counts = (0..<numberCount).map { _ in Int(cursor.number(UInt32.self)) }
        let (start, size) = (cursor.position, counts[0])
        // Before the checksum, which takes longer: most misses are these.
        guard !cursor.isBroken, size <= bytes.count - start, counts[1] == identity.count,
            counts[1] <= size, bytes[start..<(start + counts[1])].elementsEqual(identity)
        else { return nil }
        let part = UnsafeRawBufferPointer(rebasing: bytes[..<(start + size)])
        guard Checksum.crc32(UnsafeRawBufferPointer(rebasing: part[headerSize...])) == checksum
        else { return nil }
        cursor = ByteCursor(part, at: start + counts[1])
        guard let texts = readTexts(&cursor, part, count: counts[2]),
            let frames = readFrames(&cursor, texts, count: counts[3]),
            let answers = readAddresses(&cursor, frames, count: counts[4])
        else { return nil }
        return (answers, part.count)
    }

    private static func readTexts(
        _ cursor: inout ByteCursor, _ bytes: UnsafeRawBufferPointer, count: Int
    ) -> [String]? {
        guard count <= (cursor.end - cursor.position) / 4 else { return nil }
        var texts: [String] = []
        texts.reserveCapacity(count)
        for _ in 0..<count {
            let size = Int(cursor.number(UInt32.self))
            let start = cursor.position
            cursor.skip(size)
            guard !cursor.isBroken else { return nil }
            texts.append(String(decoding: bytes[start..<(start + size)], as: UTF8.self))
        }
        return texts
    }

    private static func readFrames(
        _ cursor: inout ByteCursor, _ texts: [String], count: Int
    ) -> [SourceFrame]? {
        guard count <= (cursor.end - cursor.position) / frameSize else { return nil }
        var frames: [SourceFrame] = []
        frames.reserveCapacity(count)
        for _ in 0..<count {
            let function = cursor.number(UInt32.self)
            let linkage = cursor.number(UInt32.self)
            let file = cursor.number(UInt32.self)
            let line = Int32(bitPattern: cursor.number(UInt32.self))
            let flags = cursor.number(UInt32.self)
            guard [function, linkage, file].allSatisfy({ $0 == nothing || Int($0) < texts.count }),
                line >= 0, flags < 4
            else { return nil }
            frames.append(
                SourceFrame(
                    function: function == nothing ? nil : texts[Int(function)],
                    file: file == nothing ? nil : texts[Int(file)], line: line > 0 ? line : nil,
                    isInlined: flags & 1 != 0, isUnoptimized: flags & 2 != 0,
                    linkageName: linkage == nothing ? nil : texts[Int(linkage)]))
        }
        return frames
    }

    private static func readAddresses(
        _ cursor: inout ByteCursor, _ frames: [SourceFrame], count: Int
    ) -> [UInt64: [SourceFrame]]? {
        guard count <= (cursor.end - cursor.position) / addressSize else { return nil }
        var result: [UInt64: [SourceFrame]] = [:]
        result.reserveCapacity(count)
        for _ in 0..<count {
            let address = cursor.number(UInt64.self)
            let first = Int(cursor.number(UInt32.self))
            let size = Int(cursor.number(UInt32.self))
            guard size > 0, first <= frames.count, size <= frames.count - first else { return nil }
            result[address] = Array(frames[first..<(first + size)])
        }
        return cursor.isAtEnd ? result : nil
    }
}
