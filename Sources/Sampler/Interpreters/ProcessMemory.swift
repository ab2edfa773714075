package import ProcessIO
internal import Runtimes

/// The memory of a process that is being observed.
package struct ProcessMemory: RuntimeMemory {
    let memory: TargetMemory

    package init(_ memory: TargetMemory) { self.memory = memory }

    package func bytes(at address: UInt64, count: Int) -> [UInt8]? {
        let bytes = memory.read(at: address, count: count)
        return bytes.count == count ? bytes : nil
    }

    package func bytes(at addresses: [UInt64], count: Int) -> [UInt8] {
        memory.read(at: addresses, count: count)
    }
}
