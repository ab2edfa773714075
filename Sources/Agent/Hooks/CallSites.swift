import Architecture
import CSystem
import Glibc
import Images
package import ProcessIO
package import ProfileModel

/// Where the C library makes the system calls that concern us: every version of glibc has one
/// ``SystemCallInstruction`` for each of them, and syscall(2) one for all.
package struct CallSites: Hashable, Sendable {
    package enum Call: CaseIterable, Sendable {
        /// rt_sigaction(2), through which sigaction(3) and signal(3) go.
        case sigaction
        /// rt_sigprocmask(2) in pthread_sigmask(3), through which sigprocmask(3) goes. The library
        /// changes masks in other places, too, but only for its own purposes and for moments.
        case sigmask
        case execve
        case prctl
        case mlockall
        /// syscall(2), which makes any of them.
        case syscall
        case sigaltstack
        /// set_robust_list(2) where a thread begins, all its signals blocked. The library calls it in
        /// forked children, too.
        case thread

        /// nil: any.
        private var systemCall: SystemCall? {
            switch self {
            case .sigaction: .rt_sigaction
            case .sigmask: .rt_sigprocmask
            case .execve: .execve
            case .prctl: .prctl
            case .mlockall: .mlockall
            case .sigaltstack: .sigaltstack
            case .thread: .set_robust_list
            case .syscall: nil
            }
        }

        /// True if we send no signals without it. Without the others, threads get no alternate
        /// stacks of ours.
        package var isNeeded: Bool { self != .sigaltstack && self != .thread }

        /// The call, and the instruction before it.
        package var code: [UInt8] { SystemCallInstruction.code(after: load) }
        /// The instruction before it, which a jump replaces: it loads the number, or the last
        /// argument.
        package var load: UInt64 {
            systemCall.map(SystemCallInstruction.load(of:))
                ?? SystemCallInstruction.loadOfLastArgument
        }

        /// Its index in arrays with an element for each call.
        package var index: Int {
            switch self {
            case .sigaction: 0
            case .sigmask: 1
            case .execve: 2
            case .prctl: 3
            case .mlockall: 4
            case .syscall: 5
            case .sigaltstack: 6
            case .thread: 7
            }
        }
    }

    private var sites: [Call: UInt64] = [:]

    /// nil if the call has no site, or more than one (then we do not know which is the right one).
    package subscript(call: Call) -> UInt64? { sites[call] }

    /// Finds the sites in the C library's code, or in a static program's own.
    package static func find(in mappings: [CodeMapping], memory: TargetMemory) -> CallSites {
        let library = mappings.filter { isLibrary($0.path) }
        let searched = library.isEmpty ? mappings.filter { $0.path.hasPrefix("/") } : library
        // Most programs use the same library as we do, whose sites we know.
        if searched.count == 1, let mapping = searched.first, let own = ownLibrary,
            own.file == mapping.file, own.sites.areAt(mapping.start, memory)
        {
            return own.sites.moved(to: mapping.start)
        }
        var places: [Call: [UInt64]] = [:]
        for mapping in searched {
            for (call, more) in Self.places(in: mapping, memory) {
                places[call, default: []] += more
            }
        }
        return CallSites(sites: places.compactMapValues { $0.count == 1 ? $0[0] : nil })
    }

    package static func isLibrary(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name.hasPrefix("libc.so") || name.hasPrefix("libc-") || name.hasPrefix("ld-musl")
    }

    /// No C library is larger.
    private static let longest: UInt64 = 1 << 24

    private static func places(
        in mapping: CodeMapping, _ memory: TargetMemory
    ) -> [Call: [UInt64]] {
        let size = Int(min(mapping.end - mapping.start, longest))
        let code = memory.read(at: mapping.start, count: size)
        var places: [Call: [UInt64]] = [:]
        for call in Call.allCases {
            places[call] = call.offsets(in: code).map { mapping.start + UInt64($0) }
        }
        // Some calls are in other functions, too.
        let functions: [(call: Call, name: StaticString, size: UInt64)] = [
            (.sigmask, "pthread_sigmask", 192), (.sigaltstack, "sigaltstack", 64),
        ]
        for function in functions {
            let start = self.function(function.name, in: mapping, memory) ?? mapping.end
            places[function.call] = places[function.call]?.filter {
                $0 >= start && $0 < start + function.size
            }
        }
        // A thread's first function is compiled together with the thread's creator, and is placed
        // before it.
        let creator = function("pthread_create", in: mapping, memory) ?? mapping.start
        places[.thread] = places[.thread]?.filter { $0 < creator && creator - $0 < 8192 }
        return places
    }

    private static func function(
        _ name: StaticString, in mapping: CodeMapping, _ memory: TargetMemory
    ) -> UInt64? {
        guard mapping.start >= mapping.fileOffset,
            let image = LoadedImage(base: mapping.start - mapping.fileOffset, memory: memory),
            let function = image.address(ofSymbol: name),
            mapping.start..<mapping.end ~= function
        else { return nil }
        return function
    }

    // MARK: Our own library

    /// A mapping of the C library that this program uses, and the sites relative to its start.
    private struct OwnLibrary {
        var file: CodeMapping
        var sites: CallSites
    }

    private static let ownLibrary: OwnLibrary? = {
        var buffer = ReadBuffer(capacity: 16384)
        buffer.readAll(path: "/proc/self/maps")
        let mappings = ProcFormats.maps(buffer.text).filter {
            $0.isExecutable && isLibrary($0.path)
        }
        guard mappings.count == 1, let line = mappings.first else { return nil }
        let mapping = CodeMapping(
            start: line.start, end: line.end, fileOffset: line.fileOffset, path: line.path,
            inode: line.inode)
        let sites = Self.places(in: mapping, TargetMemory(pid: getpid())).compactMapValues {
            $0.count == 1 ? $0[0] - mapping.start : nil
        }
        return OwnLibrary(file: mapping.file, sites: CallSites(sites: sites))
    }()

    /// The sites in the library that we use ourselves, from its load address; nil if a needed one
    /// is unknown.
    package static var ofOwnLibrary: CallSites? {
        guard let own = ownLibrary,
            Call.allCases.allSatisfy({ !$0.isNeeded || own.sites[$0] != nil })
        else {
            return nil
        }
        return own.sites.moved(to: own.file.fileOffset)
    }

    /// The sites in the library that we use ourselves, as addresses in a process that uses it.
    package static func ownPlaces(in mappings: [CodeMapping]) -> [UInt64] {
        guard let own = ownLibrary else { return [] }
        return mappings.filter { $0.file == own.file }.flatMap { mapping in
            own.sites.sites.values.map { mapping.start &+ $0 }
        }
    }

    /// The known sites.
    package var places: [UInt64] { Array(sites.values) }

    /// Each call's place; 0: not known.
    package var offsets: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) {
        (
            self[.sigaction] ?? 0, self[.sigmask] ?? 0, self[.execve] ?? 0, self[.prctl] ?? 0,
            self[.mlockall] ?? 0, self[.syscall] ?? 0, self[.sigaltstack] ?? 0,
            self[.thread] ?? 0
        )
    }

    /// Does the search in our own library now, rather than while a program waits for it.
    package static func prepare() { _ = ownLibrary }

    private func areAt(_ start: UInt64, _ memory: TargetMemory) -> Bool {
        sites.allSatisfy { call, offset in
            memory.read(at: start + offset, count: call.code.count) == call.code
        }
    }

    package func moved(to start: UInt64) -> CallSites {
        CallSites(sites: sites.mapValues { start &+ $0 })
    }

    /// None is known.
    package static let unknown = CallSites(sites: [:])

    private init(sites: [Call: UInt64] = [:]) { self.sites = sites }

    /// The calls that have only one place: with several, we do not know which is the right one.
    /// Leaves out calls that are searched beside functions, because the places of functions are not
    /// known here.
    package init(unique places: [Call: [UInt64]]) {
        sites = places.compactMapValues { $0.count == 1 ? $0[0] : nil }
        for call in [Call.sigmask, .sigaltstack, .thread] { sites[call] = nil }
    }
}

extension CallSites.Call {
    /// Where the call is made in some code.
    package func offsets(in code: [UInt8]) -> [Int] {
        code.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return [] }
            var offsets: [Int] = []
            var offset = 0
            while offset < bytes.count {
                let found = fl_find(
                    start + offset, bytes.count - offset, self.code, self.code.count)
                guard found >= 0 else { break }
                offsets.append(offset + found)
                offset += found + self.code.count
            }
            return offsets
        }
    }
}

extension CodeMapping {
    /// The same mapping, without its address.
    fileprivate var file: CodeMapping {
        CodeMapping(start: 0, end: end - start, fileOffset: fileOffset, path: path, inode: inode)
    }
}
