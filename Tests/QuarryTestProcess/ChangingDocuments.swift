import Quarry
import QuarryDocuments
import QuarryIncrementalWrites

/// The documents of a process that is killed: an object of two versions, an index, a full-text index, metadata.
struct KilledDocuments {
    struct OldNote: Codable, Sendable {
        var text: String
    }

    struct Note: Codable, Sendable, Hashable {
        var text: String
        var step: Int
    }

    static let store = DocumentStore("documents")
    static let oldNotes = store.collection("notes", of: OldNote.self, metadata: Int.self)
    static let notes = store.collection("notes", of: Note.self, metadata: Int.self)
        .version(2)
        .upgrading(1, from: OldNote.self) { old in Note(text: old.text, step: 0) }
    /// The number of the last step, in the transaction of that step.
    static let progress = store.collection("progress", of: Int.self)
    static let text = notes.path("text", as: String.self)

    static func create(_ db: Database) throws {
        try store.create(in: db)
        try notes.createIndex(db, "text", on: text)
        try notes.createTextIndex(db, "words", on: text)
    }

    /// A step as a change of the documents, and of the dictionary that they must equal.
    enum Change {
        case setOld(OldNote)
        case set(Note, metadata: Int)
        case replaceMetadata(Int)
        case touch
        case remove
        case removeAll
    }

    static func change(_ step: Int) -> (key: String, change: Change) {
        let change: Change =
            switch step % 7 {
            case 0: step % 140 == 0 ? .removeAll : .remove
            case 1: .setOld(OldNote(text: "old w\(step % 10)"))
            case 2: .touch
            case 3: .replaceMetadata(step)
            default: .set(Note(text: "new w\(step % 10)", step: step), metadata: step)
            }
        return ("key \(step * 11 % 40)", change)
    }

    static func perform(_ step: Int, _ db: Database) throws {
        let (key, change) = change(step)
        switch change {
        case .setOld(let note): try oldNotes.set(db, key: key, note)
        case .set(let note, let metadata): try notes.set(db, key: key, note, metadata: metadata)
        case .replaceMetadata(let metadata): try notes.replaceMetadata(db, key: key, metadata)
        case .touch: try notes.touch(db, key: key)
        case .remove: try notes.remove(db, key: key)
        case .removeAll: try notes.removeAll(db)
        }
        try progress.set(db, key: "last", step)
    }

    /// The documents after some steps.
    static func expected(after steps: Int) -> [String: Document<Note, Int>] {
        var documents: [String: Document<Note, Int>] = [:]
        guard steps > 0 else { return documents }
        for step in 1...steps {
            let (key, change) = change(step)
            switch change {
            case .setOld(let note): documents[key] = Document(key: key, object: Note(text: note.text, step: 0))
            case .set(let note, let metadata):
                documents[key] = Document(key: key, object: note, metadata: metadata)
            case .replaceMetadata(let metadata): documents[key]?.metadata = metadata
            case .touch: break
            case .remove: documents[key] = nil
            case .removeAll: documents = [:]
            }
        }
        return documents
    }
}

/// Changes documents, and says the number of each step when its commit is acknowledged, until it is killed. Now and
/// then, all are converted in bulk, or the full-text index is built anew.
func changeDocumentsForever(path: String, kind: DatabaseKind) throws {
    var configuration = Configuration()
    configuration.synchronous = .full
    let writer = try kind.open(path, configuration)
    try writer.write(KilledDocuments.create)
    while true {
        let step = try writer.write { db in
            let step = (try KilledDocuments.progress.get(db, key: "last") ?? 0) + 1
            try KilledDocuments.perform(step, db)
            return step
        }
        say(step)
        if step % 25 == 0 {
            say("upgrade")
            try KilledDocuments.notes.upgradeAll(in: writer, batch: 3, pace: IncrementalWritePace(maximumHold: .zero))
        }
        if step % 40 == 0 {
            say("index")
            try writer.write { db in
                try KilledDocuments.notes.dropTextIndex(db, "words")
                try KilledDocuments.create(db)
            }
        }
    }
}

/// Opens the file after a kill, checks that the documents, the index and the full-text index agree with the steps that
/// were committed, and says the number of the last one.
func checkDocuments(path: String, kind: DatabaseKind) throws {
    let writer = try kind.open(path)
    let last = try writer.write { db -> Int in
        let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check")
        guard problems == ["ok"] else { throw Wrong("\(problems)") }
        guard try KilledDocuments.store.exists(in: db) else { return 0 }
        let last = try KilledDocuments.progress.get(db, key: "last") ?? 0
        let expected = KilledDocuments.expected(after: last)
        let found = try KilledDocuments.notes.all().fetchAll(db)
        guard Dictionary(uniqueKeysWithValues: found.map { ($0.key, $0) }) == expected else {
            throw Wrong("after step \(last): \(found), not \(expected.values)")
        }
        guard try KilledDocuments.notes.indexNames(db) == ["text"] else { throw Wrong("no index") }
        guard try KilledDocuments.notes.textIndexNames(db) == ["words"] else { throw Wrong("no full-text index") }
        let table = "documents:notes:words"
        try db.execute(sql: #"INSERT INTO "\#(table)"("\#(table)", rank) VALUES ('integrity-check', 0)"#)
        let indexed = try String.fetchAll(db, sql: #"SELECT documentKey FROM "\#(table):keys" ORDER BY documentKey"#)
        guard indexed == expected.keys.sorted() else { throw Wrong("indexed after step \(last): \(indexed)") }
        for number in 0..<10 {
            let byWord = try KilledDocuments.notes.matching(
                FTS5Pattern(matchingAllTokensIn: "w\(number)")!, in: "words"
            ).fetchKeys(db)
            let words = expected.values.filter { $0.object.text.hasSuffix("w\(number)") }.map(\.key)
            guard Set(byWord) == Set(words), byWord.count == words.count else {
                throw Wrong("word w\(number) after step \(last): \(byWord), not \(words)")
            }
            let byText = try KilledDocuments.notes.filter(KilledDocuments.text == "new w\(number)").fetchKeys(db)
            let texts = expected.values.filter { $0.object.text == "new w\(number)" }.map(\.key)
            guard Set(byText) == Set(texts) else {
                throw Wrong("text w\(number) after step \(last): \(byText), not \(texts)")
            }
        }
        return last
    }
    try writer.close()
    say(last)
}

/// Changes documents of a store that another process uses, and says `done`.
///
/// - parameter name: begins the keys of this process.
func changeDocumentsBesideOthers(path: String, kind: DatabaseKind, name: String, rounds: Int) throws {
    let writer = try kind.open(path)
    say("ready")
    waitForStart()
    let numbers = DocumentStore("document").collection("numbers", of: Int.self)
    for round in 1...rounds {
        try writer.write { db in
            let key = "\(name) \(round % 7)"
            if round % 5 == 0 { try numbers.remove(db, key: key) } else { try numbers.set(db, key: key, round) }
        }
    }
    try writer.close()
    say("done")
}
