internal import ELF
internal import ProfileModel
internal import Symbolicate

/// A file's marks, prepared before any process has the file: a plan at the file's own addresses,
/// and the memory content for which the plan is valid.
struct PreparedFile {
    /// A piece of memory from which the plan was made.
    private struct Reading {
        var address: UInt64
        var bytes: [UInt8]

        func holds(at bias: UInt64, _ read: (UInt64, Int) -> [UInt8]) -> Bool {
            read(address &+ bias, bytes.count) == bytes
        }
    }

    private let requests: [MarkRequest]
    private let library: String
    private let draft: ImagePlan
    private let readings: [Reading]
    /// nil: there is nothing to mark, so the file need not stay open.
    private let code: ModuleCode?
    let needs: LibraryNeeds

    /// - Parameters:
    ///   - file: where it is now.
    ///   - path: where programs find it.
    init(_ file: String, path: String, _ requests: [MarkRequest]) throws(ELFFileError) {
        let code = try ModuleCode(path: file, name: path)
        var readings: [Reading] = []
        library = Self.library(path)
        draft = withoutActuallyEscaping({ (address: UInt64, count: Int) -> [UInt8] in
            let bytes = code.mapped(at: address, count: count)
            readings.append(Reading(address: address, bytes: bytes))
            return bytes
        }) { [library] read in
            ImagePlanner(library: library, bias: 0, code: code, read: read).plan(requests)
        }
        self.requests = requests
        self.readings = readings
        self.code = draft.found.isEmpty ? nil : code
        needs = code.needs
    }

    /// - Parameter read: reads at most that many bytes of the process's memory.
    func plan(
        for image: MarkedImage, read: (_ address: UInt64, _ count: Int) -> [UInt8]
    ) -> MarkPlan? {
        let library = Self.library(image.path)
        let isDrafted = library == self.library || !requests.contains(where: \.isOfLibrary)
        if isDrafted, readings.allSatisfy({ $0.holds(at: image.bias, read) }) {
            return draft.finished(movedBy: image.bias)
        }
        guard let code = code ?? (try? ModuleCode(path: image.file, name: image.path))
        else { return nil }
        return withoutActuallyEscaping(read) { read in
            ImagePlanner(library: library, bias: image.bias, code: code, read: read)
                .plan(requests).finished(movedBy: 0)
        }
    }

    /// Makes a plan that is not needed, because the first one takes longer.
    func rehearse() {
        guard let code else { return }
        _ = plan(for: MarkedImage(file: library, path: library, bias: 0)) {
            code.mapped(at: $0, count: $1)
        }
    }

    private static func library(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}

extension MarkRequest {
    fileprivate var isOfLibrary: Bool {
        if case .function(_, _?, _) = place { return true }
        return false
    }
}
