import Architecture
import CAgent
import Glibc

extension AgentMemory {
    /// Most stacks are shallow, and few threads have a core at once. So there are many small
    /// buffers, and some with room for the largest copy.
    package struct Buffers {
        package static let start = Int(FL_RING) + SignpostRing.size()
        package static let mostSmall = 64
        package static let smallSize = 32 << 10
        private static let mostLarge = max(8, min(64, 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        private static let allLarge = 16 << 20

        package let small: [Range<Int>]
        package let large: [Range<Int>]
        package let end: Int

        package init(stackBytes: Int) {
            let size = VirtualMemory.wholePages(max(1, stackBytes))
            var end = Self.start
            func make(_ count: Int, _ size: Int) -> [Range<Int>] {
                defer { end += count * size }
                return (0..<count).map { (end + $0 * size)..<(end + ($0 + 1) * size) }
            }
            small = make(Self.mostSmall, min(Self.smallSize, size))
            large =
                size <= Self.smallSize
                ? [] : make(max(8, min(Self.mostLarge, Self.allLarge / size)), size)
            self.end = end
        }

        package var count: Int { small.count + large.count }
    }
}
