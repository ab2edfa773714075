extension PythonStack {
    /// What of a stack may be believed whose newest frames were seen a moment too late: the fullest
    /// first.
    ///
    /// To find a module, to load it and to begin with its code takes longer than that moment. So what
    /// was being imported then was being imported before. Whether its code ran by then is not known.
    ///
    /// - Parameter doubtful: where the frames lie of which it is not known whether they were there.
    package func believable(without doubtful: Set<UInt64>) -> [PythonStack] {
        let steady = self.steady(without: doubtful)
        guard let module = activations.indices.first(where: runsModule),
            let start = activations[module + 1].frames.last, doubtful.contains(start.address)
        else { return [steady] }
        var imports = self
        imports.activations.removeFirst(module + 1)
        return [imports, steady]
    }

    private func steady(without doubtful: Set<UInt64>) -> PythonStack {
        var steady = self
        for index in steady.activations.indices {
            steady.activations[index].frames.removeAll { doubtful.contains($0.address) }
        }
        let first = steady.activations.firstIndex { !$0.frames.isEmpty }
        steady.activations.removeFirst(first ?? steady.activations.count)
        return steady
    }

    /// Whether an activation runs what importlib has loaded, and where both lie is known.
    private func runsModule(_ index: Int) -> Bool {
        guard index + 1 < activations.count, activations[index].place != nil,
            activations[index].frames.last?.code?.isModule == true
        else { return false }
        let loader = activations[index + 1]
        return loader.place != nil && loader.frames.first?.code?.role == .call
    }
}

extension PythonCode {
    fileprivate var isModule: Bool { name == "<module>" && role == .program }
}
