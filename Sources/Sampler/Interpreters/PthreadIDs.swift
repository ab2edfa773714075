import Glibc
import ProcessIO
import ProfileModel

/// The kernel's ids of threads that are known by their C library's ids (pthread_self(3)). Such an
/// id points to the library's data on the thread, which contains the kernel's id. Its place there
/// is the library's own business; the first thread, whose id is known, shows it.
struct PthreadIDs {
    private let pid: Int32
    private let names: InnerNames
    private let memory: TargetMemory
    private let places: [Int]

    private static let mostBytes = 2048

    init(pid: Int32, _ names: InnerNames, main: UInt64, _ memory: TargetMemory) {
        self.pid = pid
        self.names = names
        self.memory = memory
        let bytes = memory.read(at: main, count: Self.mostBytes)
        let own = names.own
        places = stride(from: 0, to: bytes.count - 3, by: 4).filter {
            bytes.littleEndianInt32(at: $0) == own
        }
    }

    /// nil: the id cannot be found.
    func tid(of thread: UInt64) -> Int32? {
        let bytes = memory.read(at: thread, count: Self.mostBytes)
        let found = Set(
            places.compactMap { bytes.littleEndianInt32(at: $0).flatMap(names.thread) }
                .filter { $0 != pid })
        return found.count == 1 ? found.first : nil
    }
}
