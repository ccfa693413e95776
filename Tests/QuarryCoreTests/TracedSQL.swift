import QuarryCore

/// The statements that SQLite runs in `body`, in their order.
func traced(_ db: Database, _ body: () throws -> Void) throws -> [String] {
    var statements: [String] = []
    let client = db.hooks.onTrace(statements: true, profiles: false) { event in
        if case .statement(_, let text) = event { statements.append(String(cString: text)) }
    }
    defer { db.hooks.remove(client) }
    try body()
    return statements
}
