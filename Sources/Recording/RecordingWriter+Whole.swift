package import ProfileModel

extension RecordingWriter {
    /// Appends all that a recording holds but its header, for ``finish(_:)``, and its symbols, for
    /// ``RecordingFile/store(_:in:)``.
    package func append(_ recording: Recording) throws(RecordingError) {
        for note in recording.notes { try append(note) }
        for child in recording.children {
            let index = try append(child)
            for image in child.images { try append(image, of: index) }
            for mark in child.marks { try append(mark, of: index) }
        }
        for image in recording.images { try append(image) }
        for mark in recording.marks { try append(mark) }
        for thread in recording.threads { try append(thread) }
        for module in recording.modules { try append(module) }
        for mapping in recording.mappings { try append(mapping) }
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
}
