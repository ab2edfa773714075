import Architecture
import ELF
import ProfileModel

/// The parts of mapped files that the process cannot change: code, constants, unwind tables. Read
/// from the files, by pages.
///
/// Unsafe code: words are loaded from pages within their bounds.
struct ImageMemory {
    private struct Image {
        /// Addresses in the process.
        var span: Range<UInt64>
        var bias: UInt64
        var file: ELFFile
        var number: Int
    }

    private struct Page: Hashable {
        var image: Int
        var start: UInt64
    }

    private var images: [Image] = []
    /// The image of the last word: the next word is mostly there, too.
    private var latest = 0
    private var pages: [Page: [UInt8]] = [:]

    private static var pageSize: UInt64 { VirtualMemory.pageSize }
    /// A MiB in all.
    private static let mostPages = 256

    init(_ space: AddressSpace) {
        struct Key: Hashable {
            var module: ModuleIndex
            var bias: UInt64
        }
        var known: Set<Key> = []
        for range in space.ranges {
            guard let module = range.module, let file = space.file(of: module),
                let span = file.span,
                known.insert(Key(module: module, bias: range.bias)).inserted
            else { continue }
            let start = span.lowerBound &+ range.bias
            let (end, overflow) = start.addingReportingOverflow(
                span.upperBound - span.lowerBound)
            guard !overflow else { continue }
            images.append(
                Image(span: start..<end, bias: range.bias, file: file, number: images.count))
        }
    }

    /// The word at an address in the process. Bytes missing from the file count as 0 if the file
    /// has other bytes on the same page; nil: it has none.
    mutating func word(at address: UInt64) -> UInt64? {
        guard let image = image(around: address) else { return nil }
        let place = address &- image.bias
        let offset = place & (Self.pageSize - 1)
        let shift = offset > Self.pageSize - 8 ? 8 * (offset &- (Self.pageSize - 8)) : 0
        guard let word = word(at: place &- shift / 8, in: image) else { return nil }
        guard shift > 0 else { return word }
        let next = self.word(at: place &+ 8 &- shift / 8, in: image) ?? 0
        return word >> shift | next << (64 &- shift)
    }

    /// - Parameter place: an address of the file's own; the word is on one page.
    private mutating func word(at place: UInt64, in image: Image) -> UInt64? {
        let page = Page(image: image.number, start: place & ~(Self.pageSize - 1))
        if pages[page] == nil {
            if pages.count >= Self.mostPages { pages.removeAll(keepingCapacity: true) }
            pages[page] = Self.read(page.start, of: image.file)
        }
        return pages[page]?.withUnsafeBytes { bytes in
            let offset = Int(place & (Self.pageSize - 1))
            guard offset <= bytes.count - 8 else { return nil }
            return UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
    }

    private mutating func image(around address: UInt64) -> Image? {
        if images.indices ~= latest, images[latest].span.contains(address) { return images[latest] }
        guard let index = images.firstIndex(where: { $0.span.contains(address) }) else {
            return nil
        }
        latest = index
        return images[index]
    }

    /// A page's bytes, 0 where the file has none; empty if it has no bytes there at all.
    private static func read(_ start: UInt64, of file: ELFFile) -> [UInt8] {
        guard start <= .max - pageSize else { return [] }
        var page = [UInt8](repeating: 0, count: Int(pageSize))
        var hasAny = false
        for (place, bytes) in file.constants(in: start..<start &+ pageSize) {
            page.replaceSubrange(place..<place + bytes.count, with: bytes)
            hasAny = true
        }
        return hasAny ? page : []
    }
}
