internal import ELF

/// The place of a USDT probe, from `.note.stapsdt`, with addresses in the file.
package struct ProbeSite: Hashable, Sendable {
    package var provider: String
    package var name: String
    /// The address of the `nop` at the probe's place.
    package var address: UInt64
    /// The address of a 16-bit number that is not 0 while a tracer is attached to the probe; nil:
    /// the probe has none.
    package var semaphore: UInt64?
}

/// Reads the notes that `sys/sdt.h` leaves in a program.
///
/// Layout (SystemTap's wiki, "UserSpaceProbeImplementation"): an ELF note with owner `stapsdt` and
/// type 3. It contains the addresses of the probe, of `.stapsdt.base` as the linker placed it, and
/// of the semaphore, then three texts: provider, name, arguments.
enum ProbeNotes {
    /// Programs have some hundreds.
    static let mostSites = 65_536
    private static let longestName = 256

    /// - Parameter base: where `.stapsdt.base` is in the file; nil: there is none. Tools that move
    ///   a program's sections (prelink) do not change notes; the base tells the distance.
    static func sites(in notes: UnsafeRawBufferPointer, base: UInt64?) -> [ProbeSite] {
        Array(
            ELFNotes(notes).lazy.filter { $0.isOf("stapsdt", type: 3) }
                .compactMap { site($0.content, base: base) }.prefix(mostSites))
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
}

extension ELFFile {
    /// The probes in all its notes.
    var probeSites: [ProbeSite] {
        guard let notes = index(ofSection: ".note.stapsdt") else { return [] }
        let base = index(ofSection: ".stapsdt.base").map { sections[$0].address }
        return ProbeNotes.sites(in: bytes(ofSection: notes), base: base)
    }
}
