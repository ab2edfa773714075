import CFuzz

/// Mutates an ELF file: mostly within one of its sections, whose size stays, so that the reader of
/// the container does not refuse it before the section has been read.
///
/// Unsafe code: `data` is libFuzzer's, `most` bytes long.
package func mutateELF(
    _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ most: Int, _ seed: UInt32
) -> Int {
    let sections = ELFLayout(UnsafeRawBufferPointer(start: data, count: size)).sections
    guard !sections.isEmpty, seed % 8 != 0 else { return LLVMFuzzerMutate(data, size, most) }
    let section = sections[Int(seed / 8) % sections.count]
    // A window of it: libFuzzer's changes are few, and large sections would hide them.
    let start = section.lowerBound + Int(seed >> 12) % section.count
    let count = min(section.upperBound - start, 64)
    var window = [UInt8](UnsafeBufferPointer(start: data + start, count: count))
    let changed = window.withUnsafeMutableBufferPointer { buffer in
        buffer.baseAddress.map { LLVMFuzzerMutate($0, count, count) } ?? 0
    }
    for index in 0..<min(changed, count) { data[start + index] = window[index] }
    return size
}
