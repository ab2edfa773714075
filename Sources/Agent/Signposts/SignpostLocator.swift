import CSignpost
import ELF
package import Images
import ProcessIO
import ProfileModel

/// Finds where a loaded program or library keeps the state of its signposts. A note in the file
/// gives the place, so no symbols are needed (`firstlight/signpost.h`).
package struct SignpostLocator {
    /// How many bytes of a segment are read at most: notes are short.
    private static let noteLimit: UInt64 = 65_536
    /// Each source file has a note; all notes of one module point to the same state. The limit
    /// should be enough for modules that were linked together without sharing a state.
    package static let stateLimit = 64

    private let image: LoadedImage

    package init(_ image: LoadedImage) {
        self.image = image
    }

    /// The addresses of `firstlight_signpost_state`, each once. Empty: the image has no signposts.
    package func states() -> [UInt64] {
        var found: [UInt64] = []
        for segment in image.segments where segment.kind == 4 {
            let count = Int(min(segment.size, Self.noteLimit))
            let bytes = image.memory.read(at: segment.start, count: count)
            for state in Self.states(notes: bytes, at: segment.start)
            where isState(state) && !found.contains(state) && found.count < Self.stateLimit {
                found.append(state)
            }
        }
        return found
    }

    /// The addresses in the notes in `bytes`, wherever they point.
    package static func states(notes bytes: [UInt8], at address: UInt64) -> [UInt64] {
        // Unsafe code: the notes do not outlive their bytes.
        bytes.withUnsafeBytes { bytes in
            ELFNotes(bytes).compactMap { note in
                guard note.isOf("Firstlight", type: UInt32(FIRSTLIGHT_SIGNPOST_NOTE)),
                    let distance = note.content.number(UInt64.self, at: 0)
                else { return nil }
                return address &+ UInt64(note.place) &+ distance
            }
        }
    }

    /// True if the state is in writable memory of the image and has the version that we know.
    private func isState(_ address: UInt64) -> Bool {
        let size = UInt64(MemoryLayout<firstlight_signpost_state>.size)
        guard address % 8 == 0, address <= .max - size,
            image.segments.contains(where: {
                $0.kind == 1 && $0.flags & 2 != 0 && $0.contains(address)
                    && $0.contains(address + size - 1)
            })
        else { return false }
        let version = MemoryLayout<firstlight_signpost_state>.offset(of: \.version) ?? 0
        return image.memory.int32(at: address &+ UInt64(version))
            == Int32(FIRSTLIGHT_SIGNPOST_VERSION)
    }
}
