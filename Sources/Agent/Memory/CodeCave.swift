import Architecture
package import Images
package import ProcessIO
import ProfileModel

/// Finds room for a few hundred bytes of code for a moment: the rest of the last page of a
/// program's or library's code. It is mapped with the code, and unused.
package enum CodeCave {
    /// nil: there is no room.
    ///
    /// - Parameters:
    ///   - images: the mapped images; the first with room is taken.
    ///   - mappings: the kernel's list, to be sure that the page exists.
    package static func find(
        in images: [LoadedImage], _ mappings: [ProcFormats.MapsLine], size: Int
    ) -> UInt64? {
        for image in images {
            for segment in image.segments where segment.isExecutable {
                let start = (segment.start &+ segment.size &+ 15) & ~15
                let end = VirtualMemory.pageEnd(of: segment.start &+ segment.size)
                guard start < end, end &- start >= UInt64(size),
                    mappings.contains(where: {
                        $0.isExecutable && $0.start <= start && $0.end >= end
                            && $0.path.hasPrefix("/")
                    })
                else { continue }
                return start
            }
        }
        return nil
    }
}
