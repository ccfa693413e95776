import Quarry
import QuarryDocuments
import QuarryTestSupport
import Testing

struct Book: Codable, Hashable, Sendable {
    var title: String
    var author: String
    var year: Int
}

struct Reading: Codable, Hashable, Sendable {
    var page: Int
}

let store = DocumentStore("document")
let books = store.collection("books", of: Book.self, metadata: Reading.self)
let mobyDick = Book(title: "Moby-Dick; or, The Whale", author: "Melville", year: 1851)
let typee = Book(title: "Typee", author: "Melville", year: 1846)
let emma = Book(title: "Emma", author: "Austen", year: 1815)

/// A queue in memory with a store.
func makeQueue(_ stores: DocumentStore...) throws -> DatabaseQueue {
    let queue = try DatabaseQueue()
    try queue.write { db in
        for store in stores.isEmpty ? [store] : stores { try store.create(in: db) }
    }
    return queue
}

/// A write with three books.
func withBooks(_ body: (Database) throws -> Void) throws {
    try makeQueue().write { db in
        try books.set(db, key: "moby-dick", mobyDick, metadata: Reading(page: 30))
        try books.set(db, key: "typee", typee)
        try books.set(db, key: "emma", emma, metadata: Reading(page: 1))
        try body(db)
    }
}
