import Architecture
import Glibc
import TestSupport
import Testing

/// The numbers agree with the system's own header.
@Suite struct SystemCallTests {
    private static let header = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"

    /// The header's calls by number; empty if the system has no headers.
    private static func defined() -> [Int32: String] {
        guard let file = fopen(header, "r") else { return [:] }
        defer { fclose(file) }
        var calls: [Int32: String] = [:]
        while let line = readLine(file) {
            let words = line.split(separator: " ")
            guard words.count == 3, words[0] == "#define", words[1].hasPrefix("__NR_"),
                let number = Int32(words[2])
            else { continue }
            calls[number] = String(words[1].dropFirst("__NR_".count))
        }
        return calls
    }

    private static func readLine(_ file: UnsafeMutablePointer<FILE>) -> String? {
        var bytes: [UInt8] = []
        while true {
            let byte = getc(file)
            if byte == EOF { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if byte == 0x0A { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
    }

    /// Newer headers may have more calls, and older ones fewer.
    @Test(
        .enabled(
            if: access(header, R_OK) == 0 || isContinuousIntegration,
            "the kernel's headers are not installed"))
    func agreeWithTheHeader() {
        let defined = Self.defined()
        #expect(defined.count > 300)
        for (number, name) in defined where number <= 462 {
            #expect(SystemCall(rawValue: number)?.name == name, "\(number)")
        }
        let last = defined.keys.max() ?? 0
        for call in SystemCall.allCases where call.rawValue <= last {
            #expect(defined[call.rawValue] == call.name)
        }
    }

    @Test func numbersFromAnotherSource() {
        #expect(SystemCall.restart_syscall.rawValue == 219)
        #expect(SystemCall.futex.rawValue == 202)
        #expect(SystemCall.pidfd_send_signal.rawValue == 424)
        #expect(SystemCall.mseal.rawValue == 462)
        #expect(SystemCall(rawValue: SystemCall.outside) == nil)
        #expect(SystemCall(rawValue: 400) == nil)
    }
}
