/// A shell with a completion script made from the option table.
package enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish
}
