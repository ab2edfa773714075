/// Tells whether libiberty's demangler will finish a C++ name in reasonable time.
///
/// Its output is cut, and this bounds its time, with one exception. For a pack expansion (`Dp`,
/// `sizeof...`, fold expressions) it first searches the whole pattern for the pack, and repeats the
/// search in the text of each substitution (`S_`, `S0_`, …). Each substitution can double the time:
/// a name of 250 characters kept it busy for an hour. Expansions of a mere parameter (`DpT_`,
/// `DpRKT0_`), by far the most frequent, end at once. As for other patterns, no name among LLDB's
/// 267,000 has more than 13 substitutions after the first one.
enum PackSearch {
    static let mostSubstitutions = 14

    static func isBounded(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let start = firstExpansion(in: bytes) else { return true }
        return substitutions(in: bytes[start...]) <= mostSubstitutions
    }

    /// Where the first expansion begins whose pattern may be more than a parameter. A name may only
    /// look like an expansion (`flush`): then we are merely stricter than needed.
    private static func firstExpansion(in bytes: [UInt8]) -> Int? {
        bytes.indices.dropLast().first { index in
            switch (bytes[index], bytes[index + 1]) {
            case (UInt8(ascii: "D"), UInt8(ascii: "p")), (UInt8(ascii: "s"), UInt8(ascii: "Z")):
                !isParameter(bytes[(index + 2)...])
            case (UInt8(ascii: "f"), let letter):
                foldLetters.contains(letter)
                    && isOperator(bytes[(index + 2)...])
            default: false
            }
        }
    }

    private static let foldLetters = Set("lrLR".utf8)
    private static let qualifiers = Set("KVROP".utf8)

    /// `T_`, `RKT0_`, without arguments of its own; `fp_` for `sizeof...`.
    private static func isParameter(_ pattern: ArraySlice<UInt8>) -> Bool {
        let rest = pattern.drop(while: qualifiers.contains)
        guard rest.first == UInt8(ascii: "T") else { return rest.starts(with: "fp".utf8) }
        let behind = rest.dropFirst().drop(while: isNumber)
        return behind.first == UInt8(ascii: "_") && behind.dropFirst().first != UInt8(ascii: "I")
    }

    /// The two letters of the operators that can be folded.
    private static let operators: Set<[UInt8]> = Set(
        """
        aN aS aa an cm dV ds dv eO eo eq ge gt lS le ls lt mI mL mi ml ne oR oo or pL pl pm rM rS \
        rm rs dt pt ss
        """.split(separator: " ").map { Array($0.utf8) })

    private static func isOperator(_ rest: ArraySlice<UInt8>) -> Bool {
        operators.contains(Array(rest.prefix(2)))
    }

    private static func substitutions(in bytes: ArraySlice<UInt8>) -> Int {
        bytes.indices.count { index in
            guard bytes[index] == UInt8(ascii: "S") else { return false }
            // No name of this length has ids with more digits.
            return bytes[(index + 1)...].prefix(4).drop(while: isNumber).first == UInt8(ascii: "_")
        }
    }

    /// In base 36.
    private static func isNumber(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
