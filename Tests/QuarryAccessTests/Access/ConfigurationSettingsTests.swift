import Quarry
import QuarryCore
import Synchronization
import Testing

@testable import QuarryAccess
@testable import QuarryRecovery

/// The settings that other rooms add to a configuration.
@Suite struct ConfigurationSettingsTests {
    private struct Keys: DatabaseSchemaSource {}

    private struct Silent: DatabaseTracer {
        var options: DatabaseTracing.Options { DatabaseTracing.Options(.errors) }
        func receive(_ event: DatabaseTraceEvent) {}
    }

    @Test func haveDefaults() {
        let configuration = Configuration()
        #expect(configuration.commitNumbers == .counted)
        #expect(configuration.schemaSource == nil)
        #expect(configuration.tracers.isEmpty)
        #expect(configuration.walEventHandler == nil)
        #expect(configuration.corruptionHandler == nil)
        #expect(!configuration.handlesCorruption)
        if case .report = configuration.corruptionPolicy {} else { Issue.record("\(configuration.corruptionPolicy)") }
    }

    @Test func belongToOneCopyOfTheConfiguration() {
        var first = Configuration()
        first.commitNumbers = .stored
        first.corruptionPolicy = .readOnly
        first.schemaSource = Keys()
        first.tracers = [Silent()]
        first.onWALEvent { _ in }
        first.onCorruption { _ in }
        var second = first
        second.schemaSource = nil
        second.tracers = []
        second.settings = second.settings.withoutFollowing
        #expect(first.settings.comparisons == ["corruptionPolicy": "readOnly"] && second.settings.comparisons.isEmpty)
        second.commitNumbers = .counted
        second.tracers.append(Silent())
        #expect(first.tracers.count == 1 && second.tracers.count == 1)
        second.tracers.removeAll()
        #expect(first.commitNumbers == .stored && second.commitNumbers == .counted)
        #expect(first.schemaSource is Keys && second.schemaSource == nil)
        #expect(first.tracers.count == 1 && second.tracers.isEmpty)
        #expect(first.walEventHandler != nil && second.walEventHandler != nil)
        #expect(first.corruptionHandler != nil && second.corruptionHandler == nil)
        #expect(first.handlesCorruption && !second.handlesCorruption)
    }

    /// The closure that was given last is called, once.
    @Test func handlersAreReplaced() {
        let calls = Mutex<[String]>([])
        var configuration = Configuration()
        configuration.onCorruption { _ in calls.withLock { $0.append("first") } }
        configuration.onCorruption { _ in calls.withLock { $0.append("second") } }
        configuration.corruptionHandler?(.falseAlarm(DatabaseError(resultCode: .SQLITE_CORRUPT)))
        #expect(calls.withLock { $0 } == ["second"])
    }

    @Test func areFoundByTheirTypes() {
        var settings = ConfigurationSettings()
        #expect(settings[Int.self] == nil)
        settings[Int.self] = 1
        settings[String.self] = "a"
        #expect(settings[Int.self] == 1 && settings[String.self] == "a" && settings[Int32.self] == nil)
        settings[Int.self] = nil
        #expect(settings[Int.self] == nil && settings[String.self] == "a")
    }
}
