import Quarry
import QuarryDocuments

// Conditions on paths of documents.

struct TypeCheckedBook: Codable {
    var author: String
    var year: Int
    var rating: Double?
}

func documents(_ db: Database) throws {
    let books = DocumentStore().collection("books", of: TypeCheckedBook.self)
    let author = books.path("author", as: String.self)
    let year = books.path("year", as: Int.self)
    let rating = books.path("rating", as: Double.self)
    _ = try books.filter(
        author == "Melville" && year > 1850 && year <= 1900 && rating != nil && rating >= 3
            || author != "Austen"
                && (1800...1850).contains(year)
            || ["Poe", "Shelley"].contains(author) && !(rating < 2) && author == nil
    ).order(year.desc, author).fetchAll(db)
}
