import Analysis
import Exports
import MadeRecordings
import Report
import Testing

@Suite struct CompressedExportTests {
    @Test(arguments: ExportFormat.allCases)
    func onlyPprofIsCompressed(_ format: ExportFormat) {
        let profile = Profile(RecordingBuilder.random(seed: 1))
        let plain = Export.render(profile, as: format)
        let given = Export.render(profile, as: format, compress: { [1] + $0 })
        #expect(given == (format == .pprof ? [1] + plain : plain))
    }
}
