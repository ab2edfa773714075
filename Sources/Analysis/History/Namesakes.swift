import ProfileModel

extension LaunchHistory {
    /// Programs whose names differ only in a version at the end (`app-1.0`, `app-1.1`): probably
    /// one program, in several series. Each group is in the order of the series.
    package var namesakes: [[String]] {
        var groups: [(stem: Substring, names: [String])] = []
        for name in series.compactMap({ $0.circumstances.arms.first.map { String($0.name) } }) {
            let stem = Self.stem(of: name)
            guard let place = groups.firstIndex(where: { $0.stem == stem }) else {
                groups.append((stem, [name]))
                continue
            }
            if !groups[place].names.contains(name) { groups[place].names.append(name) }
        }
        return groups.map(\.names).filter { $0.count > 1 }
    }

    /// The name without digits, points, and the separators before them.
    private static func stem(of name: String) -> Substring {
        let end = name.lastIndex { !$0.isNumber && !".-_v".contains($0) }
        return end.map { name[...$0] } ?? name[...]
    }
}
