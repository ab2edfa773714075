import ProfileModel

/// Names the code of an interpreter's frames, and remembers it.
package struct PythonNames: Sendable {
    package let interpreter: PythonInterpreter
    private let objects: PythonObjects
    private var known: [PythonCodeKey: PythonCode] = [:]
    /// The size of all cached tables, in bytes.
    private var size = 0

    package init(_ interpreter: PythonInterpreter) {
        self.interpreter = interpreter
        objects = PythonObjects(interpreter)
    }

    /// The contents of the code object; nil: it is unreadable, or another object has replaced it.
    package mutating func code(
        for key: PythonCodeKey, _ memory: any RuntimeMemory
    ) -> PythonCode? {
        if let code = known[key] { return code }
        guard let code = read(key, memory) else { return nil }
        let cost = code.lines.bytes.count + Self.entrySize
        if size + cost > Self.mostBytes { (known, size) = ([:], 0) }
        size += cost
        known[key] = code
        return code
    }

    /// The present text of a str object, such as the first local variable of a frame that imports;
    /// nil: it is not a str.
    package func text(at address: UInt64, _ memory: any RuntimeMemory) -> String? {
        objects.text(at: address, memory)
    }

    /// As ``text(at:_:)``, for several addresses, read in one go.
    package func texts(at addresses: [UInt64], _ memory: any RuntimeMemory) -> [String?] {
        objects.texts(at: addresses, memory)
    }

    /// A program has some 100,000 code objects: 20 MB.
    private static var mostBytes: Int { 256 << 20 }
    private static var entrySize: Int { 400 }

    private func read(_ key: PythonCodeKey, _ memory: any RuntimeMemory) -> PythonCode? {
        guard key.address.mayBeObject, let head = head(key, memory),
            let code = content(head, memory),
            // The object is still there, so its pointers led to its own texts.
            self.head(key, memory) != nil
        else { return nil }
        return code
    }

    /// The object itself, if it is the right one.
    private func head(_ key: PythonCodeKey, _ memory: any RuntimeMemory) -> [UInt8]? {
        let (offsets, identity) = (interpreter.offsets, interpreter.layout.identity)
        guard let bytes = memory.bytes(at: key.address, count: offsets.codeRead),
            bytes.word(at: offsets.object.type) == interpreter.codeType,
            PythonCodeKey(
                address: key.address,
                identity: bytes.dropFirst(identity.offset).prefix(identity.size)) == key
        else { return nil }
        return bytes
    }

    private func content(_ head: [UInt8], _ memory: any RuntimeMemory) -> PythonCode? {
        let places = interpreter.offsets.code
        guard let name = text(head, places.name, memory),
            let file = text(head, places.file, memory),
            let qualifiedName = places.qualifiedName.map({ text(head, $0, memory) }) ?? name,
            let firstLine = head.int32(at: places.firstLine),
            let table = head.word(at: places.table).flatMap({ objects.bytes(at: $0, memory) }),
            let length = length(head, memory)
        else { return nil }
        return PythonCode(
            name: name, qualifiedName: qualifiedName, file: file,
            lines: PythonLineTable(places.tableFormat, table, firstLine: firstLine),
            length: length,
            firstTraceable: places.firstTraceable.flatMap { head.int32(at: $0) }.map { $0 &* 2 }
                ?? 0)
    }

    private func text(_ head: [UInt8], _ place: Int, _ memory: any RuntimeMemory) -> String? {
        head.word(at: place).flatMap { objects.text(at: $0, memory) }
    }

    /// The length of the instructions, in bytes.
    private func length(_ head: [UInt8], _ memory: any RuntimeMemory) -> Int32? {
        switch interpreter.offsets.code.start {
        case .object(let place):
            return head.word(at: place).flatMap { objects.bytesCount(at: $0, memory) }
                .flatMap { Int32(exactly: $0) }
        case .inside:
            return head.word(at: interpreter.offsets.object.size)
                .flatMap { $0 < UInt64(Int32.max / 2) ? Int32($0) * 2 : nil }
        }
    }
}
