import ProfileModel

/// Where a few hundred bytes of code can stand for a moment: what follows the code of a program or
/// library on its last page. It is mapped with the code, and belongs to nobody.
enum CodeCave {
    /// nil: there is none.
    ///
    /// - Parameters:
    ///   - images: what is mapped; the first that has room is taken.
    ///   - mappings: as the kernel lists them, to be sure that the page is there.
    static func find(
        in images: [LoadedImage], _ mappings: [ProcFormats.MapsLine], size: Int
    ) -> UInt64? {
        for image in images {
            for segment in image.segments where segment.isExecutable {
                let start = (segment.start &+ segment.size &+ 15) & ~15
                let end = (segment.start &+ segment.size &+ 4095) & ~4095
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
