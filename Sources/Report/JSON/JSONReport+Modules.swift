import Analysis
import Exports
import ProfileModel

extension JSONReport {
    static func module(
        _ module: ModuleFigures, _ times: ModuleTimes, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("path", module.path)
            writer.field("buildId", module.buildID.isEmpty ? nil : module.buildID.hex)
            writer.field("loadedNs", module.loaded)
            writer.field("hasDebugInfo", module.hasDebugInfo)
            writer.field("debugInfoFile", module.symbols?.debugInfoPath)
            writer.field("debugInfoOrigin", module.symbols?.debugInfoOrigin?.rawValue)
            writer.field("symbolOrigin", module.symbols?.symbolOrigin?.rawValue)
            writer.field("slices", module.slices)
            writer.field("totalCpuNs", times.total.running)
            writer.field("selfCpuNs", times.own.running)
            writer.field("totalWallNs", times.total.wall)
            writer.field("selfWallNs", times.own.wall)
            writer.field("addresses", module.addresses.all)
            writer.field("namedAddresses", module.addresses.named)
            writer.field("addressesWithLine", module.addresses.withLine)
            writer.key("remarks")
            writer.array(module.symbols?.remarks ?? []) { writer, remark in
                writer.object {
                    $0.field("kind", remark.kind.rawValue)
                    $0.field("detail", remark.detail)
                    $0.field("text", remark.words)
                }
            }
        }
    }
}
