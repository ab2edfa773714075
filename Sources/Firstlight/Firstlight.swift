import ProfileCLI

/// The program. All that it does is in a library, which tests can link, too.
@main enum Firstlight {
    static func main() { CommandLineInterface.main() }
}
