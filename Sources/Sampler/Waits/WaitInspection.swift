import ProcessIO
import ProfileModel

/// Finds out what a thread waits for, from its system call and from its process. A fact that cannot
/// be found is left out, never guessed.
struct WaitInspection {
    let surroundings: any WaitSurroundings

    /// No process has a descriptor with this number.
    private static var mostDescriptors: UInt64 { 1 << 16 }
    /// How many of several descriptors are named.
    private static var mostNamed: Int { 3 }

    func reason(for call: WaitingCall) -> WaitReason {
        // Whatever call it was in.
        if surroundings.isStopped { return WaitReason(.stopped) }
        return switch call {
        case .futex(let call): reason(for: call)
        case .sleep(let name, let length):
            WaitReason(.sleep, detail: name.rawValue + (length.flatMap(self.length) ?? ""))
        case .descriptor(let number): reason(forDescriptor: number)
        case .path(let address):
            WaitReason(.file, detail: address.flatMap { surroundings.text(at: $0) })
        case .socket(let number): WaitReason(.socket, detail: socket(number))
        case .connection(let address, let length):
            WaitReason(.socket, detail: connection(to: address, length: length))
        case .poll(let address, let count):
            WaitReason(.poll, detail: list(polled(at: address, count: count), of: count))
        case .select(let sets, let count):
            WaitReason(.poll, detail: selected(in: sets, count: count).flatMap { list($0) })
        case .epoll(let number): WaitReason(.poll, detail: epoll(number).flatMap { list($0) })
        case .child(let child): reason(for: process(child))
        case .spawning:
            surroundings.isUninterruptible ? reason(for: onlyChild) : WaitReason(.other)
        case .ioUring: WaitReason(.ioUring)
        case .signal: WaitReason(.signal)
        case .fileLock(let number): WaitReason(.lock, detail: surroundings.link(of: number))
        case .systemSemaphore: WaitReason(.other, detail: "semaphore")
        case .messageQueue: WaitReason(.other, detail: "message queue")
        case .outside:
            surroundings.isFrozen
                ? WaitReason(.frozen) : WaitReason(surroundings.isUninterruptible ? .disk : .other)
        case .other: WaitReason(.other)
        }
    }

    // MARK: Locks and conditions

    private func reason(for call: FutexCall) -> WaitReason {
        let found = call.wait(
            thread: surroundings.thread, read: { surroundings.word(at: $0) })
        return switch found {
        case .mutex(let place, let owner):
            WaitReason(.lock, detail: "mutex", owner: owner, place: place)
        case .readWriteLock(let place, let owner):
            WaitReason(.lock, detail: "read-write lock", owner: owner, place: place)
        case .end(let tid): WaitReason(.condition, detail: "end of a thread", owner: tid)
        case .condition(let place):
            WaitReason(.condition, detail: "condition variable", place: place)
        case .semaphore(let place): WaitReason(.condition, detail: "semaphore", place: place)
        case .other(let place): WaitReason(.other, place: place)
        }
    }

    // MARK: Time

    /// The length in a `timespec`, preceded by a space.
    private func length(at address: UInt64) -> String? {
        time(at: address).map { " " + WaitTimeout.words($0) }
    }

    /// A `timespec`, or a `timeval`, in nanoseconds.
    ///
    /// - Parameter unit: how many nanoseconds its second field counts in.
    private func time(at address: UInt64, unit: UInt64 = 1) -> Int64? {
        let bytes = surroundings.memory(at: address, count: 16)
        guard let seconds = bytes.littleEndianWord(at: 0).flatMap({ Int64(exactly: $0) }),
            let rest = bytes.littleEndianWord(at: 8), rest < 1_000_000_000 / unit, seconds < 1 << 32
        else { return nil }
        return seconds * 1_000_000_000 + Int64(rest * unit)
    }

    /// The time limit of the call; nil: it has none, or that is not known.
    ///
    /// - Parameter limit: the limit of a wait for descriptors.
    func timeout(of call: WaitingCall, limit: WaitLimit?) -> WaitTimeout? {
        switch limit {
        case .milliseconds(let count): return .length(.milliseconds(Int64(count)))
        case .timespec(let address):
            return time(at: address).map { .length(TimeSpan(nanoseconds: $0)) }
        case .timeval(let address):
            return time(at: address, unit: 1000).map { .length(TimeSpan(nanoseconds: $0)) }
        case nil: break
        }
        guard case .futex(let call) = call, let timeout = call.timeout,
            let nanoseconds = time(at: timeout.address)
        else { return nil }
        return WaitTimeout(
            timeout, nanoseconds: nanoseconds, monotonic: surroundings.monotonic)
    }

    // MARK: Descriptors

    private func reason(forDescriptor number: Int32) -> WaitReason {
        switch surroundings.link(of: number).flatMap(DescriptorKind.init(link:)) {
        case .file(let path):
            WaitReason(surroundings.isNamedPipe(number) ? .pipe : .file, detail: path)
        case .pipe: WaitReason(.pipe)
        case .socket: WaitReason(.socket, detail: socket(number))
        case .terminal(let path): WaitReason(.terminal, detail: path)
        case .special("signalfd"): WaitReason(.signal, detail: "signalfd")
        case .special("io_uring"): WaitReason(.ioUring)
        case .special(let name): WaitReason(.other, detail: name)
        case nil: WaitReason(.other)
        }
    }

    private func socket(_ number: Int32) -> String? {
        guard let ends = surroundings.socket(number) else { return nil }
        if ends.isListening { return "listening" + (ends.local.map { " on \($0)" } ?? "") }
        return (ends.peer ?? ends.local)?.description
    }

    private func connection(to address: UInt64, length: UInt64) -> String? {
        // The longest one is a sockaddr_un.
        let count = Int(min(length, 110))
        return SocketAddress(surroundings.memory(at: address, count: count))?.description
    }

    // MARK: Several descriptors

    private func polled(at address: UInt64, count: UInt64) -> [Int32] {
        let bytes = surroundings.memory(at: address, count: 8 * Int(min(count, 1024)))
        // The kernel ignores negative descriptors.
        return stride(from: 0, to: bytes.count, by: 8).compactMap {
            bytes.littleEndianInt32(at: $0).flatMap { $0 >= 0 ? $0 : nil }
        }
    }

    private func selected(in sets: [UInt64], count: UInt64) -> [Int32]? {
        let count = Int(min(count, Self.mostDescriptors))
        var bits = [UInt8](repeating: 0, count: (count + 7) / 8)
        for set in sets {
            let bytes = surroundings.memory(at: set, count: bits.count)
            guard bytes.count == bits.count else { return nil }
            for index in bits.indices { bits[index] |= bytes[index] }
        }
        return (0..<count).lazy.filter { bits[$0 / 8] & 1 << ($0 % 8) != 0 }.map(Int32.init)
    }

    /// `tfd:        5 events:       19 …`
    private func epoll(_ number: Int32) -> [Int32]? {
        guard var text = surroundings.information(on: number) else { return nil }
        var found: [Int32] = []
        while text.skip(toLine: "tfd:") {
            if let watched = text.decimal().flatMap({ Int32(exactly: $0) }) {
                found.append(watched)
            }
        }
        return found
    }

    /// "2 descriptors: pipe, socket 127.0.0.1:5432"
    private func list(_ numbers: [Int32], of count: UInt64? = nil) -> String {
        let count = count ?? UInt64(numbers.count)
        let names = numbers.prefix(Self.mostNamed).compactMap(name)
        let more = UInt64(names.count) < count ? " …" : ""
        return "\(count) descriptor\(count == 1 ? "" : "s")"
            + (names.isEmpty ? "" : ": " + names.joined(separator: ", ") + more)
    }

    private func name(of number: Int32) -> String? {
        switch surroundings.link(of: number).flatMap(DescriptorKind.init(link:)) {
        case .file(let path), .terminal(let path): path
        case .pipe: "pipe"
        case .socket: "socket" + (socket(number).map { " \($0)" } ?? "")
        case .special(let name): name
        case nil: nil
        }
    }

    // MARK: Children

    private func process(_ child: WaitingCall.Child) -> Int32? {
        switch child {
        case .process(let pid): return surroundings.child(pid)
        case .any: return onlyChild
        case .descriptor(let number):
            guard var text = surroundings.information(on: number), text.skip(toLine: "Pid:") else {
                return nil
            }
            return text.decimal().flatMap { Int32(exactly: $0) }.flatMap { $0 > 0 ? $0 : nil }
        }
    }

    private var onlyChild: Int32? {
        surroundings.children.flatMap { $0.count == 1 ? $0[0] : nil }
    }

    private func reason(for child: Int32?) -> WaitReason {
        WaitReason(.child, detail: child.flatMap(command), owner: child)
    }

    /// `git rev-parse`: the program's name and its first argument.
    private func command(of child: Int32) -> String? {
        guard let words = surroundings.command(of: child), let program = words.first else {
            return nil
        }
        let name = program.split(separator: "/").last ?? program[...]
        return ([name] + words.dropFirst().prefix(1).map { $0[...] }).joined(separator: " ")
    }
}

/// The kind of an open file, from the target of its link under `/proc/PID/fd`.
enum DescriptorKind: Hashable {
    case file(String)
    case pipe
    case socket
    case terminal(String)
    /// One of the kernel's own kinds: `eventfd`, `eventpoll`, `signalfd` …
    case special(String)

    /// nil: not known.
    init?(link: String) {
        if Self.isTerminal(link) {
            self = .terminal(link)
        } else if link.hasPrefix("/") {
            self = .file(link)
        } else if link.hasPrefix("pipe:[") {
            self = .pipe
        } else if link.hasPrefix("socket:[") {
            self = .socket
        } else if link.hasPrefix("anon_inode:") {
            let name = link.dropFirst("anon_inode:".utf8.count)
                .drop { $0 == "[" }.prefix { $0 != "]" }
            guard !name.isEmpty else { return nil }
            self = .special(String(name))
        } else {
            return nil
        }
    }

    private static func isTerminal(_ path: String) -> Bool {
        path.hasPrefix("/dev/pts/") || path.hasPrefix("/dev/tty") || path == "/dev/console"
            || path == "/dev/ptmx"
    }
}
