package import ProfileModel

extension RecordingWriter {
    /// Appends all of a recording except its header, which ``finish(_:)`` writes, and its symbols,
    /// which ``RecordingFile/store(_:in:)`` writes.
    package func append(_ recording: Recording) throws(RecordingError) {
        for note in recording.notes { try append(note) }
        for child in recording.children {
            let index = try append(child)
            for image in child.images { try append(image, of: index) }
            for mark in child.borders { try append(mark, of: index) }
        }
        for image in recording.images { try append(image) }
        for mark in recording.borders { try append(mark) }
        for thread in recording.threads { try append(thread) }
        for module in recording.modules { try append(module) }
        for mapping in recording.mappings { try append(mapping) }
        try append(functionsOf: recording)
        try append(newNodesOf: recording.stacks)
        for slice in recording.slices { try append(slice) }
        for library in recording.libraries { try append(library) }
        for initializer in recording.initializers { try append(initializer) }
        for interval in recording.intervals { try append(interval) }
        for signpost in recording.signposts { try append(signpost) }
        if let ready = recording.ready { try append(ready) }
        for wait in recording.waits { try append(wait) }
        for priority in recording.priorities { try append(priority) }
        for run in recording.runs { try append(run) }
        for wakeup in recording.wakeups { try append(wakeup) }
    }

    /// Functions that could not be named later.
    private func append(functionsOf recording: Recording) throws(RecordingError) {
        let runtimes = recording.modules.indices.filter {
            Module.isRuntime(recording.modules[$0].path)
        }
        guard !runtimes.isEmpty else { return }
        let frames = recording.symbols.frames.filter { frame, _ in
            frame.module.map { runtimes.contains($0.rawValue) } ?? false
        }
        for (frame, functions) in frames.sorted(by: {
            ($0.key.module?.rawValue ?? 0, $0.key.address.value)
                < ($1.key.module?.rawValue ?? 0, $1.key.address.value)
        }) {
            if let function = functions.first { try append(function, at: frame) }
        }
    }
}
