import Foundation
import Testing

/// Each of our calls in the tables of "Coming from YapDatabase" is code of `ComingFromYapDatabaseSamples`, which runs.
@Suite struct TableOfCallsTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func callsAreRun() throws {
        let samples = try Self.text("Tests/QuarryDocumentsTests/Documentation/ComingFromYapDatabaseSamples.swift")
        let article = try Self.text("Sources/QuarryDocuments/QuarryDocuments.docc/ComingFromYapDatabase.md")
        var count = 0
        for line in article.split(separator: "\n") where line.hasPrefix("| ") && !line.hasPrefix("| YapDatabase") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 2, "\(line)")
            if cells[1].hasPrefix("none: ") { continue }
            let calls = cells[1].split(separator: "`").enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            #expect(!calls.isEmpty)
            for call in calls {
                count += 1
                #expect(samples.contains(call), "no sample has \(call)")
            }
        }
        #expect(count >= 63)
    }

    /// The calls of a connection and its transactions are all named, also those that have no counterpart.
    @Test func callsAreNamed() throws {
        let article = try Self.text("Sources/QuarryDocuments/QuarryDocuments.docc/ComingFromYapDatabase.md")
        let names = """
            asyncBackupToPath asyncReadWithBlock:completionQueue:completionBlock: \
            asyncReadWriteWithBlock:completionQueue:completionBlock: asyncVacuumWithCompletionBlock \
            autoFlushMemoryFlags backupToPath beginLongLivedReadTransaction database \
            didClearAllCollectionsInNotifications didClearCollection \
            disableExceptionsForImplicitlyEndingLongLivedReadTransaction \
            enableExceptionsForImplicitlyEndingLongLivedReadTransaction endLongLivedReadTransaction \
            enumerateChangedCollectionKeysInNotifications enumerateChangedKeysInCollection \
            enumerateCollectionsUsingBlock enumerateKeysAndMetadataInCollection \
            enumerateKeysInAllCollectionsUsingBlock enumerateKeysInCollection enumerateObjectsForKeys \
            enumerateRowsInCollection ext: flushMemoryWithFlags flushTransactionsWithCompletionQueue getObject \
            hasChangeForAnyKeys hasChangeForCollection hasChangeForKey hasMetadataChangeForAnyKeys \
            hasMetadataChangeForCollection hasMetadataChangeForKey hasObjectChangeForAnyKeys \
            hasObjectChangeForCollection hasObjectChangeForKey hasObjectForKey isInLongLivedReadTransaction \
            metadataCacheEnabled metadataCacheLimit metadataForKey name newConnection numberOfCollections \
            numberOfKeysInAllCollections numberOfKeysInCollection objectCacheEnabled objectCacheLimit objectForKey \
            pendingTransactionCount pragmaAutoVacuum pragmaMMapSize pragmaPageSize pragmaSynchronous readWithBlock \
            readWriteWithBlock removeAllObjectsInAllCollections removeAllObjectsInCollection removeObjectForKey \
            removeObjectsForKeys replaceMetadata replaceObject setObject snapshot touchMetadataForKey \
            touchObjectForKey touchRowForKey vacuum
            """
        for name in names.split(separator: " ") { #expect(article.contains("`\(name)"), "\(name) isn't named") }
    }
}
