/// The options of `watch`.
extension OptionTable {
    static let watching: [OptionDeclaration] = [
        .init(.all, "all", for: [.watch], "watch the launches of all programs"),
        .init(
            .output, "output", short: "o", "DIR", .text, for: [.watch],
            """
            the folder that launches are kept in; a missing folder is made (default: the service's \
            StateDirectory, else /var/lib/firstlight/watch for root, else \
            ~/.local/state/firstlight/watch)
            """),
        .init(
            .keep, "keep", "SIZE", .size, for: [.watch],
            "how large all files together may become before the oldest are deleted (default: 256MB)"
        ),
        .init(
            .profileEvery, "profile-every", "N", .integer(1...1_000_000), for: [.watch],
            """
            record one in N launches of each program with stacks, from its exec on, for 10 s at most, \
            in DIR/recordings; one at a time
            """),
        .init(
            .profileBudget, "profile-budget", "PERCENT", .percent, for: [.watch],
            """
            how much of a core recorders may use on average; launches beyond that are not recorded \
            (default: 1)
            """),
        .init(
            .textFolder, "textfile", "DIR", .text, for: [.watch],
            """
            write figures into DIR/firstlight-watch.prom, which node_exporter's textfile collector \
            reads
            """),
        .init(
            .otlp, "otlp", "URL", .text, for: [.watch],
            "send figures by OpenTelemetry's protocol, as export --otlp does"),
        .init(
            .pushEvery, "push-every", "TIME", .duration, for: [.watch],
            "how often figures are written and sent, if there are new ones (default: 60s)"),
        .init(.quiet, "quiet", for: [.watch], "print no line for each launch that is kept"),
    ]
}
