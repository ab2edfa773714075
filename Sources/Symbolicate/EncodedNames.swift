/// A function of Emacs Lisp that Emacs compiled: `F`, its name in hexadecimal, the name again with
/// characters that C allows, and a number: `F6c6f61642d7468656d65_load_theme_0` (`comp-c-func-name`
/// of comp.el).
struct EmacsName {
    let function: String

    init?(_ symbol: String) {
        let bytes = Array(symbol.utf8)
        guard bytes.first == UInt8(ascii: "F") else { return nil }
        let digits = bytes.dropFirst().prefix { $0 != UInt8(ascii: "_") }
        guard digits.count >= 2, digits.count % 2 == 0, let decoded = Self.decoded(Array(digits))
        else { return nil }
        let rest = bytes.dropFirst(1 + digits.count)
        guard let last = rest.lastIndex(of: UInt8(ascii: "_")), last > rest.startIndex,
            !rest[(last + 1)...].isEmpty, rest[(last + 1)...].allSatisfy(isDecimal),
            // A name that has this form by chance does not contain its text twice.
            rest[(rest.startIndex + 1)..<last].elementsEqual(Self.inC(decoded))
        else { return nil }
        function = decoded
    }

    private static func decoded(_ digits: [UInt8]) -> String? {
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index...(index + 1)], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func inC(_ name: String) -> [UInt8] {
        name.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }.filter {
            $0 == UInt8(ascii: "_") || isDecimal($0)
                || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
        }
    }
}

/// A function of OCaml: `camlStdlib__List__map_405`.
struct OCamlName {
    let function: String

    init?(_ symbol: String) {
        let prefix = "caml"
        guard symbol.hasPrefix(prefix) else { return nil }
        let name = symbol.dropFirst(prefix.utf8.count)
        // The names of the run-time system's own functions continue in lower case.
        guard let first = name.utf8.first, UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first,
            let last = name.lastIndex(of: "_"), last < name.index(before: name.endIndex),
            name[name.index(after: last)...].utf8.allSatisfy(isDecimal)
        else { return nil }
        let parts = String(name[..<last]).replacing("__", with: ".")
        guard parts.contains(".") else { return nil }
        function = parts
    }
}

/// A function of GHC: its package, module and name in z-encoding, and the kind of the symbol:
/// `containerszm0zi6_DataziMapziInternal_insert_info` (GHC.Utils.Encoding).
struct HaskellName {
    let function: String

    init?(_ symbol: String) {
        guard let kind = Self.kinds.first(where: { symbol.hasSuffix($0) }) else { return nil }
        let parts = symbol.dropLast(kind.utf8.count)
            .split(separator: "_", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count),
            let package = Self.decoded(parts.count == 3 ? parts[0] : ""),
            let module = Self.decoded(parts[parts.count - 2]), Self.isModule(module),
            let name = Self.decoded(parts[parts.count - 1]), !name.isEmpty,
            // C functions may end in `_info`, too: then no part of their names is encoded.
            module.hasSuffix("Main") || module.contains(".")
                || (parts.count == 3 && package != parts[0])
        else { return nil }
        function = "\(module).\(name)"
    }

    /// Words that begin with capital letters, with dots between them; `:Main` starts the program.
    private static func isModule(_ name: String) -> Bool {
        name.drop { $0 == ":" }.split(separator: ".", omittingEmptySubsequences: false).allSatisfy {
            word in
            word.first?.isUppercase == true
                && word.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "'" }
        }
    }

    private static let kinds = [
        "_con_info", "_con_entry", "_info", "_closure", "_entry", "_slow", "_fast", "_ret",
    ]

    /// nil if it is not z-encoded.
    static func decoded(_ text: Substring) -> String? {
        var result = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            guard character == "z" || character == "Z" else {
                result.append(character)
                continue
            }
            if let letter = rest.first, let plain = (character == "z" ? small : large)[letter] {
                result.append(plain)
                rest.removeFirst()
                continue
            }
            let digits = rest.prefix { $0.isHexDigit && !$0.isUppercase }
            guard let last = rest.dropFirst(digits.count).first, digits.first?.isNumber == true
            else { return nil }
            rest = rest.dropFirst(digits.count + 1)
            switch (character, last) {
            case ("z", "U"):
                guard let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init)
                else { return nil }
                result.unicodeScalars.append(scalar)
            case ("Z", "T"), ("Z", "H"):
                // The number of elements of a tuple, boxed or unboxed.
                guard let count = Int(digits), count <= 64 else { return nil }
                let commas = String(repeating: ",", count: max(0, count - 1))
                result += last == "T" ? "(\(commas))" : "(#\(commas)#)"
            default: return nil
            }
        }
        return result
    }

    private static let small: [Character: Character] = [
        "z": "z", "a": "&", "b": "|", "c": "^", "d": "$", "e": "=", "g": ">", "h": "#", "i": ".",
        "l": "<", "m": "-", "n": "!", "o": "+", "q": "'", "r": "\\", "s": "/", "t": "*", "u": "_",
        "v": "%",
    ]
    private static let large: [Character: Character] = [
        "L": "(", "R": ")", "M": "[", "N": "]", "C": ":", "Z": "Z",
    ]
}

/// Encodings that a name alone does not reveal, but only together with its file: a C function could
/// have the same name.
enum NameScheme {
    case nim, ada

    /// - Parameter hasSymbol: true if the file defines a symbol.
    init?(hasSymbol: (StaticString) -> Bool) {
        if hasSymbol("NimMain") {
            self = .nim
        } else if hasSymbol("__gnat_ada_main_program_name") || hasSymbol("__gnat_initialize") {
            self = .ada
        } else {
            return nil
        }
    }

    /// True if the name may be encoded, so that the file's scheme is needed.
    static func mayApply(to name: String) -> Bool {
        name.utf8.first.map { $0 != UInt8(ascii: "_") } ?? false && name.contains("__")
            || name.hasPrefix("_ada_")
    }

    /// nil if it is not encoded.
    func readable(_ name: String) -> String? {
        switch self {
        case .nim: Self.nim(name)
        case .ada: Self.ada(name)
        }
    }

    /// `addInt__stdZprivateZdigitsutils_164` → `std/private/digitsutils.addInt`.
    private static func nim(_ name: String) -> String? {
        guard let border = name.firstRange(of: "__"), border.lowerBound > name.startIndex
        else { return nil }
        var proc = name[..<border.lowerBound]
        var rest = name[border.upperBound...]
        // The underscore of operators: `plus___f_22`.
        if rest.hasPrefix("_") { rest = rest.dropFirst() }
        guard let last = rest.lastIndex(of: "_"), last > rest.startIndex else { return nil }
        let module = rest[..<last]
        var number = rest[rest.index(after: last)...]
        if number.hasPrefix("u") { number = number.dropFirst() }
        guard !number.isEmpty, number.utf8.allSatisfy(isDecimal), !module.contains("_"),
            !proc.contains("_")
        else { return nil }
        if proc.hasPrefix("colonanonymous") { proc = ":anonymous" }
        let path = module.split(separator: "Z", omittingEmptySubsequences: false)
            .joined(separator: "/")
        return "\(path).\(operators(proc) ?? String(proc))"
    }

    /// A Nim operator, of which each character is a word or `X` and its code: `X5BX5Deq` → `[]=`.
    private static func operators(_ text: Substring) -> String? {
        var rest = text
        var result = ""
        while !rest.isEmpty {
            if let (word, sign) = nimSigns.first(where: { rest.hasPrefix($0.0) }) {
                result += sign
                rest = rest.dropFirst(word.count)
            } else if rest.hasPrefix("X"), let code = UInt8(rest.dropFirst().prefix(2), radix: 16),
                rest.count >= 3
            {
                result.unicodeScalars.append(Unicode.Scalar(code))
                rest = rest.dropFirst(3)
            } else {
                return nil
            }
        }
        return result
    }

    private static let nimSigns = [
        ("dollar", "$"), ("percent", "%"), ("amp", "&"), ("roof", "^"), ("emark", "!"),
        ("qmark", "?"), ("star", "*"), ("plus", "+"), ("minus", "-"), ("backslash", "\\"),
        ("slash", "/"), ("eq", "="), ("lt", "<"), ("gt", ">"), ("tilde", "~"), ("colon", ":"),
        ("dot", "."), ("at", "@"), ("bar", "|"),
    ]

    /// `ada__text_io__put_line__2` → `ada.text_io.put_line` (exp_dbug.ads of GNAT).
    private static func ada(_ name: String) -> String? {
        var text = name[...]
        if text.hasPrefix("_ada_") { text = text.dropFirst("_ada_".utf8.count) }
        // Nested functions and overloaded ones are numbered.
        if let dot = text.lastIndex(of: "."),
            text[text.index(after: dot)...].utf8.allSatisfy(isDecimal)
        {
            text = text[..<dot]
        }
        var suffix = ""
        for (ending, attribute) in [("___elabb", "'Elab_Body"), ("___elabs", "'Elab_Spec")]
        where text.hasSuffix(ending) {
            (text, suffix) = (text.dropLast(ending.utf8.count), attribute)
        }
        var parts = String(text).replacing("__", with: ".").split(separator: ".")
        if parts.count > 1, parts.last?.utf8.allSatisfy(isDecimal) == true { parts.removeLast() }
        if let last = parts.last, let sign = adaOperators[String(last)] {
            parts[parts.count - 1] = "\"\(sign)\""
        }
        let isPlain = parts.allSatisfy { part in
            part.hasPrefix("\"")
                || part.utf8.allSatisfy {
                    UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || isDecimal($0)
                        || $0 == UInt8(ascii: "_")
                }
        }
        guard isPlain, !parts.isEmpty, text.utf8.first != UInt8(ascii: "_") else { return nil }
        return parts.joined(separator: ".") + suffix
    }

    private static let adaOperators = [
        "Oabs": "abs", "Oand": "and", "Omod": "mod", "Onot": "not", "Oor": "or", "Orem": "rem",
        "Oxor": "xor", "Oeq": "=", "One": "/=", "Olt": "<", "Ole": "<=", "Ogt": ">", "Oge": ">=",
        "Oadd": "+", "Osubtract": "-", "Oconcat": "&", "Omultiply": "*", "Odivide": "/",
        "Oexpon": "**",
    ]
}

private func isDecimal(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
