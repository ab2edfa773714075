internal import Glibc
package import ProfileModel
package import Runtimes
internal import System

/// A just-in-time compiler's list of its code, in the format that perf invented:
/// `/tmp/perf-PID.map`, a line `START SIZE NAME` for each function, both numbers in hexadecimal.
///
/// Code that was replaced keeps its line; the last line that covers an address counts. So if code
/// was moved or replaced while the program ran, an address gets the name that was there at the end.
/// (V8 moves no code while it writes a map, but may put new code where freed code was.)
package struct PerfMap: Sendable {
    private let text: [UInt8]
    /// In the order of the file.
    private let entries: [PerfMapLine]

    /// A larger file is not read: 64 MiB are a million functions.
    package static let largest = 64 << 20
    private static let mostEntries = 1 << 20

    /// nil if there is no such regular file of this user, or it is larger than ``largest``.
    /// - Parameter owner: the user id of the profiled process. Every user can put a file into
    ///   `/tmp`, so another user's file is not trusted.
    package init?(path: String, owner: UInt32) {
        guard
            let text = try? WholeFile.bytes(ofRegular: path, limit: Self.largest, owner: owner)
        else { return nil }
        self.init(text)
    }

    /// The map left by a process that was recorded; nil: there is none, or it is of an earlier process.
    package init?(at place: PerfMapPlace) {
        var status = stat()
        guard stat(place.path, &status) == 0,
            place.since.map({ status.st_mtim.tv_sec >= $0 }) ?? true
        else { return nil }
        for owner in place.owners {
            guard let map = PerfMap(path: place.path, owner: owner) else { continue }
            self = map
            return
        }
        return nil
    }

    /// The map left by a process that perf recorded. Like perf, we trust this user's files, and
    /// root's.
    package init?(left pid: Int32) {
        let path = "/tmp/perf-\(pid).map"
        for owner in [geteuid(), 0] {
            guard let map = PerfMap(path: path, owner: owner) else { continue }
            self = map
            return
        }
        return nil
    }

    /// Malformed lines are left out.
    package init(_ text: [UInt8]) {
        var entries: [PerfMapLine] = []
        var position = 0
        while position < text.count, entries.count < Self.mostEntries {
            let end = text[position...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            if let entry = PerfMapLine(text[position..<end]) { entries.append(entry) }
            position = end + 1
        }
        self.text = text
        self.entries = entries
    }

    /// The names of the functions at addresses in the process, as far as the map has them.
    package func names(at addresses: [UInt64]) -> [UInt64: String] {
        let sorted = Array(Set(addresses)).sorted()
        // For each address, the next one from there on that has no name yet.
        var unnamed = Array(0...sorted.count)
        func firstUnnamed(from index: Int) -> Int {
            var root = index
            while unnamed[root] != root { root = unnamed[root] }
            var current = index
            while unnamed[current] != root {
                (current, unnamed[current]) = (unnamed[current], root)
            }
            return root
        }
        var result: [UInt64: String] = [:]
        for entry in entries.reversed() where result.count < sorted.count {
            var index = firstUnnamed(from: sorted.partitionIndex { $0 >= entry.start })
            while index < sorted.count, sorted[index] < entry.end {
                result[sorted[index]] = Demangler.bounded(
                    String(decoding: text[entry.name], as: UTF8.self))
                unnamed[index] = index + 1
                index = firstUnnamed(from: index + 1)
            }
        }
        return result
    }
}

extension PerfMap {
    /// Names a recording's addresses in code without a file, if the map covers them and they have
    /// no name yet.
    ///
    /// - Parameters:
    ///   - child: the child that the map belongs to; nil: the recorded process.
    ///   - origins: tells where scripts come from.
    ///   - root: the process's root directory; empty: ours.
    package func name(
        _ recording: inout Recording, of child: ChildIndex? = nil,
        _ origins: inout ScriptOrigins, below root: String = ""
    ) {
        var places: [FrameAddress: UInt64] = [:]
        let code = GeneratedCode(recording, of: child)
        for node in recording.stacks.nodes where recording.symbols.frames[node.frame] == nil {
            if let address = code.address(of: node.frame) { places[node.frame] = address }
        }
        guard !places.isEmpty else { return }
        let names = names(at: Array(places.values))
        var functions: [String: SourceFrame] = [:]
        for (frame, address) in places {
            guard let name = names[address] else { continue }
            let function = functions[name] ?? origins.function(called: name, below: root)
            functions[name] = function
            recording.symbols.frames[frame] = [function]
        }
    }

    /// True if V8 wrote the map: it contains JavaScript functions.
    package var isOfNode: Bool { entries.contains { NodeFunction.isTagged(text[$0.name]) } }
}

extension Recording {
    /// The children that had code without a file.
    package var childrenWithGeneratedCode: Set<ChildIndex> {
        Set(
            mappings.lazy.filter { mapping in
                self.modules.indices.contains(mapping.module.rawValue)
                    && self.modules[mapping.module.rawValue].isGenerated
            }.compactMap(\.child))
    }
}

/// Where one process of a recording has code without a file: without a module, or in memory that
/// has only a name.
private struct GeneratedCode {
    private let child: ChildIndex?
    private let mappings: [ModuleIndex: [Mapping]]

    init(_ recording: Recording, of child: ChildIndex?) {
        self.child = child
        let own = recording.mappings.filter { $0.child == child }
        mappings = Dictionary(grouping: own, by: \.module).filter { module, _ in
            recording.modules.indices.contains(module.rawValue)
                && recording.modules[module.rawValue].isGenerated
        }
    }

    /// The address in the process; nil for code of a file.
    func address(of frame: FrameAddress) -> UInt64? {
        // A child's generated code has a module.
        guard let module = frame.module else { return child == nil ? frame.address.lookup : nil }
        // The newest first: if one replaced another, it is the code that ran last.
        for mapping in (mappings[module] ?? []).reversed() {
            let address = frame.address.lookup &+ mapping.bias
            if (mapping.start..<max(mapping.start, mapping.end)).contains(address) {
                return address
            }
        }
        return nil
    }
}

extension PerfMap {
    /// Removes a map that a process has written because we asked for it.
    ///
    /// - Parameter earliest: in seconds since 1970. A file written before stays: it belongs to
    ///   another process that had the same id.
    /// - Returns: false: it was not removed.
    @discardableResult
    package static func remove(_ place: PerfMapPlace, writtenSince earliest: Int) -> Bool {
        guard let status = try? Descriptor(regular: place.path, O_NOFOLLOW).status(),
            place.owners.contains(status.st_uid), status.st_mtim.tv_sec >= earliest
        else { return false }
        return unlink(place.path) == 0
    }
}
