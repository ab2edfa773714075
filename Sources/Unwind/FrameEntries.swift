import ELF

/// The part of a common information entry (CIE) of `.eh_frame` that applies to the functions that
/// refer to it.
struct CommonEntry {
    var codeAlignment: UInt64
    var dataAlignment: Int64
    var encoding: PointerEncoding
    var isSignalFrame = false
    /// True if functions' entries have their own augmentation, with its length.
    var hasAugmentation = false
    /// Where its instructions are in the section.
    var instructions: Range<Int>
}

/// A function's entry (FDE) of `.eh_frame`.
struct FunctionEntry {
    var common: CommonEntry
    var start: UInt64
    var size: UInt64
    /// Where its instructions are in the section.
    var instructions: Range<Int>

    func contains(_ address: UInt64) -> Bool { address &- start < size }
}

/// Reads the entries of an `.eh_frame` section (Linux Standard Base 5.0, 10.6; DWARF 5, 6.4.1).
///
/// nil stands for damaged entries, and for those that no compiler writes.
struct FrameEntries {
    let section: TableSection

    enum Kind {
        case common
        case function(commonAt: Int)
    }

    /// The beginning of an entry: its kind, its contents, and where the next one begins.
    func header(at position: Int) -> (kind: Kind, contents: Range<Int>, next: Int)? {
        var cursor = section.cursor(from: position)
        var length = UInt64(cursor.number(UInt32.self))
        let isLong = length == 0xFFFF_FFFF
        if isLong { length = cursor.number(UInt64.self) }
        let place = cursor.position
        guard !cursor.isBroken, length >= 4, length <= UInt64(section.bytes.count &- place) else {
            return nil
        }
        let next = place &+ Int(truncatingIfNeeded: length)
        let distance = isLong ? cursor.number(UInt64.self) : UInt64(cursor.number(UInt32.self))
        guard !cursor.isBroken, cursor.position <= next else { return nil }
        let contents = cursor.position..<next
        if distance == 0 { return (.common, contents, next) }
        guard distance <= UInt64(place) else { return nil }
        return (.function(commonAt: place &- Int(truncatingIfNeeded: distance)), contents, next)
    }

    func function(at position: Int) -> FunctionEntry? {
        guard let header = header(at: position), case .function(let commonAt) = header.kind,
            let common = common(at: commonAt)
        else { return nil }
        var cursor = section.cursor(header.contents)
        guard let start = common.encoding.read(&cursor, section),
            let size = common.encoding.readNumber(&cursor)
        else { return nil }
        if common.hasAugmentation { cursor.skip(cursor.unsigned()) }
        guard !cursor.isBroken else { return nil }
        return FunctionEntry(
            common: common, start: start, size: size,
            instructions: cursor.position..<header.contents.upperBound)
    }

    private func common(at position: Int) -> CommonEntry? {
        guard let header = header(at: position), case .common = header.kind else { return nil }
        var cursor = section.cursor(header.contents)
        let version = cursor.byte()
        guard version == 1 || version == 3 else { return nil }
        let augmentation = cursor.text()
        let codeAlignment = cursor.unsigned()
        let dataAlignment = cursor.signed()
        let returnAddress = version == 1 ? UInt64(cursor.byte()) : cursor.unsigned()
        guard returnAddress == 16, !cursor.isBroken else { return nil }
        var entry = CommonEntry(
            codeAlignment: codeAlignment, dataAlignment: dataAlignment, encoding: .absolute,
            instructions: 0..<0)
        guard read(augmentation, of: &entry, &cursor), !cursor.isBroken else { return nil }
        entry.instructions = cursor.position..<header.contents.upperBound
        return entry
    }

    /// Reads the augmentation: each of its letters stands for a field.
    private func read(
        _ augmentation: Range<Int>, of entry: inout CommonEntry, _ cursor: inout ByteCursor
    ) -> Bool {
        var letters = section.cursor(augmentation)
        guard !letters.isAtEnd else { return true }
        guard letters.byte() == UInt8(ascii: "z") else { return false }
        entry.hasAugmentation = true
        let length = cursor.unsigned()
        let start = cursor.position
        while !letters.isAtEnd {
            switch letters.byte() {
            case UInt8(ascii: "R"):
                entry.encoding = PointerEncoding(rawValue: cursor.byte())
            case UInt8(ascii: "L"):
                _ = cursor.byte()
            case UInt8(ascii: "P"):
                let encoding = PointerEncoding(rawValue: cursor.byte())
                guard encoding.readNumber(&cursor) != nil else { return false }
            case UInt8(ascii: "S"):
                entry.isSignalFrame = true
            case UInt8(ascii: "B"):
                break
            default:
                return false
            }
        }
        guard cursor.position >= start, length >= UInt64(cursor.position &- start) else {
            return false
        }
        cursor.skip(length &- UInt64(cursor.position &- start))
        return true
    }
}
