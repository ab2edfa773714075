/// Sizes in option values: `256MB`, `2GB`, at least 1 MB.
enum SizeArgument {
    /// In powers of ten, as disks are sold.
    private static let units = [("GB", 1_000_000_000), ("MB", 1_000_000)]

    /// In bytes; nil: not a size.
    static func parse(_ text: String) -> Int? {
        for (name, factor) in units where text.hasSuffix(name) {
            let digits = text.dropLast(name.utf8.count)
            guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
                let count = Int(digits), count > 0
            else { return nil }
            let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: factor)
            return isTooLarge ? nil : bytes
        }
        return nil
    }
}
