/// A USDT probe's site, as `.note.stapsdt` tells of it, at the addresses of the file.
package struct ProbeSite: Hashable, Sendable {
    package var provider: String
    package var name: String
    /// Of the `nop` that stands for it.
    package var address: UInt64
    /// Of a 16-bit number that is not 0 while somebody listens; nil: it has none.
    package var semaphore: UInt64?
}

/// Reads the notes that `sys/sdt.h` leaves in a program.
///
/// Layout (SystemTap's wiki, "UserSpaceProbeImplementation"): an ELF note of owner `stapsdt` and
/// type 3; in it the addresses of the probe, of `.stapsdt.base` as the linker placed it, and of the
/// semaphore, and three texts: provider, name, arguments.
enum ProbeNotes {
    private static let owner = Array("stapsdt\0".utf8)
    private static let type: UInt32 = 3
    /// Programs have some hundreds.
    static let mostSites = 65_536
    private static let longestName = 256

    /// - Parameter base: where `.stapsdt.base` is in the file; nil: it has none. Tools that move a
    ///   program's sections (prelink) leave notes as they are; the base tells by how much.
    static func sites(in notes: UnsafeRawBufferPointer, base: UInt64?) -> [ProbeSite] {
        var sites: [ProbeSite] = []
        var offset = 0
        while let nameSize = notes.number(UInt32.self, at: offset),
            let size = notes.number(UInt32.self, at: offset + 4),
            let type = notes.number(UInt32.self, at: offset + 8), sites.count < mostSites
        {
            let name = offset + 12
            let content = name + padded(nameSize)
            offset = content + padded(size)
            guard type == Self.type, nameSize == owner.count, content <= notes.count,
                notes[name..<content].elementsEqual(owner)
            else { continue }
            let end = min(content + Int(size), notes.count)
            let bytes = UnsafeRawBufferPointer(rebasing: notes[content..<end])
            if let site = site(bytes, base: base) { sites.append(site) }
        }
        return sites
    }

    private static func site(_ note: UnsafeRawBufferPointer, base: UInt64?) -> ProbeSite? {
        guard let address = note.number(UInt64.self, at: 0),
            let noted = note.number(UInt64.self, at: 8),
            let semaphore = note.number(UInt64.self, at: 16),
            let provider = note.text(at: 24), provider.count <= longestName,
            let name = note.text(at: 24 + provider.count + 1), name.count <= longestName
        else { return nil }
        let shift = base.map { $0 &- noted } ?? 0
        return ProbeSite(
            provider: String(decoding: provider, as: UTF8.self),
            name: String(decoding: name, as: UTF8.self), address: address &+ shift,
            semaphore: semaphore == 0 ? nil : semaphore &+ shift)
    }

    private static func padded(_ size: UInt32) -> Int { (Int(size) + 3) / 4 * 4 }
}

extension ElfFile {
    /// Those of all its notes.
    var probeSites: [ProbeSite] {
        guard let notes = index(ofSection: ".note.stapsdt") else { return [] }
        let base = index(ofSection: ".stapsdt.base").map { sections[$0].address }
        return ProbeNotes.sites(in: bytes(ofSection: notes), base: base)
    }
}
