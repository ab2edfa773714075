/// Reads numbers and texts from a range of bytes, one after another. Beyond the range it returns
/// nil, and all later reads do, too.
///
/// Unsafe code: loads are within checked bounds.
struct ByteReader {
    private let bytes: [UInt8]
    private(set) var position: Int
    private var end: Int

    /// - Parameter range: clamped to the existing bytes.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        let whole = range.clamped(to: 0..<bytes.count)
        position = whole.lowerBound
        end = whole.upperBound
    }

    init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count) }

    var remaining: Int { end - position }

    mutating func integer<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type
    ) -> Number? {
        let size = MemoryLayout<Number>.size
        guard remaining >= size else {
            position = end
            return nil
        }
        defer { position += size }
        return bytes.withUnsafeBytes { raw in
            Number(littleEndian: raw.loadUnaligned(fromByteOffset: position, as: Number.self))
        }
    }

    mutating func u32() -> UInt32? { integer(UInt32.self) }
    mutating func i32() -> Int32? { integer(Int32.self) }
    mutating func u64() -> UInt64? { integer(UInt64.self) }

    /// A length in bytes or entries, `size` bytes each, if it fits into the rest.
    mutating func count(of size: Int = 1) -> Int? {
        guard let value = u64() else { return nil }
        return fitting(value, size)
    }

    private func fitting(_ value: UInt64, _ size: Int) -> Int? {
        guard let count = Int(exactly: value), count <= remaining / size else { return nil }
        return count
    }

    @discardableResult
    mutating func skip(_ count: Int) -> Void? {
        guard count >= 0, count <= remaining else {
            position = end
            return nil
        }
        position += count
        return ()
    }

    mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= remaining else {
            position = end
            return nil
        }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    /// `count` numbers of eight bytes.
    mutating func words(_ count: Int) -> [UInt64]? {
        guard count >= 0, count <= remaining / 8 else {
            position = end
            return nil
        }
        defer { position += count * 8 }
        return bytes.withUnsafeBytes { raw in
            (0..<count).map { index in
                UInt64(
                    littleEndian: raw.loadUnaligned(
                        fromByteOffset: position + index * 8, as: UInt64.self))
            }
        }
    }

    /// A text up to its NUL, or to the end. Invalid UTF-8 is replaced.
    mutating func text() -> String {
        let stretch = bytes[position..<end]
        let nul = stretch.firstIndex(of: 0)
        position = nul.map { $0 + 1 } ?? end
        return String(decoding: stretch[..<(nul ?? end)], as: UTF8.self)
    }

    /// A text in perf's header: a length, and that many bytes with a NUL in them.
    mutating func countedText() -> String? {
        guard let length = u32().flatMap({ Int(exactly: $0) }), let bytes = take(length) else {
            return nil
        }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The rest without its last `count` bytes.
    func dropping(last count: Int) -> ByteReader {
        var result = self
        result.end = max(result.position, end - count)
        return result
    }

    /// The last `count` bytes of the rest; nil if there are fewer.
    func last(_ count: Int) -> ByteReader? {
        guard count >= 0, count <= remaining else { return nil }
        var result = self
        result.position = end - count
        return result
    }
}
