import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Tables that refer to themselves, common table expressions, and associations with those.
enum OrganizationProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "employee") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.belongsTo("manager", inTable: "employee", onDelete: .restrict)
                t.column("salary", .integer).notNull()
            }
            try db.create(table: "chat") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("topic", .text).notNull()
            }
            try db.create(table: "message") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("chat").notNull()
                t.column("text", .text).notNull()
                t.column("date", .integer).notNull()
            }
            for (id, name, manager, salary) in [
                (1, "Root", nil, 90), (2, "Left", 1, 50), (3, "Right", 1, 60), (4, "Leaf", 3, 30),
            ] as [(Int64, String, Int64?, Int)] {
                try Employee(id: id, name: name, managerId: manager, salary: salary).insert(db)
            }
            try db.execute(
                sql: """
                    INSERT INTO chat VALUES (1, 'food'), (2, 'sport'), (3, 'silence');
                    INSERT INTO message VALUES (1, 1, 'bread', 10), (2, 1, 'cheese', 30), (3, 2, 'chess', 20);
                    """)
        }

        try dbQueue.read { db in
            for info in try Employee.including(optional: Employee.manager).order(Column("id"))
                .asRequest(of: EmployeeInfo.self).fetchAll(db)
            {
                print(info.employee.name, "reports to", info.manager?.name ?? "nobody")
            }
            print(
                try Employee.including(all: Employee.subordinates.order(Column("name"))).order(Column("id"))
                    .asRequest(of: Team.self).fetchAll(db).map { "\($0.employee.name): \($0.subordinates.map(\.name))" }
            )
            print(
                try Employee.annotated(with: Employee.subordinates.count).having(Employee.subordinates.count > 0)
                    .order(Column("id")).asRequest(of: Row.self).fetchAll(db).map { $0["subordinateCount"] as Int })
            print(try Employee.find(db, key: 4).request(for: Employee.manager).fetchOne(db)?.name ?? "none")
            let manager = TableAlias()
            print(
                try Employee.joining(required: Employee.manager.aliased(manager))
                    .filter(Column("salary") * 2 > manager[Column("salary")]).order(Column("id")).fetchAll(db).map(
                        \.name))
            print(
                try Employee.including(
                    required: Employee.manager.including(optional: Employee.manager.forKey("grandManager"))
                )
                .order(Column("id")).asRequest(of: Chain.self).fetchAll(db).map {
                    "\($0.employee.name) \($0.manager.name) \($0.grandManager?.name ?? "-")"
                })
        }

        // Recursive, and written in SQL, literals or requests.
        try dbQueue.read { db in
            func counter(_ range: ClosedRange<Int>) -> QueryInterfaceRequest<Int> {
                let counter = CommonTableExpression<Int>(
                    recursive: true, named: "counter", columns: ["x"],
                    literal:
                        "VALUES(\(range.lowerBound)) UNION ALL SELECT x + 1 FROM counter WHERE x < \(range.upperBound)")
                return counter.all().with(counter)
            }
            print(try counter(3...7).fetchAll(db), try counter(1...100).fetchCount(db))
            let chain = CommonTableExpression<Employee>(
                recursive: true, named: "chain",
                sql: """
                    SELECT * FROM employee WHERE id = ?
                    UNION ALL
                    SELECT employee.* FROM employee JOIN chain ON chain.managerId = employee.id
                    """,
                arguments: [4])
            print(try chain.all().with(chain).fetchAll(db).map(\.name))
            print(
                try Employee.with(chain).filter(chain.all().select(Column("id")).contains(Column("id"))).order(
                    Column("salary")
                )
                .fetchAll(db).map(\.name))
            let rich = CommonTableExpression<Void>(
                named: "rich", request: Employee.select(Column("name")).filter(Column("salary") > 55))
            let request: SQLRequest<String> = "WITH \(definitionFor: rich) SELECT name FROM \(rich) ORDER BY name"
            print(try request.fetchAll(db))
            print(try Employee.with(rich).filter(rich.contains(Column("name"))).fetchCount(db))
            let direct: SQLRequest<Row> = "WITH \(definitionFor: rich) \(rich.all())"
            print(try direct.fetchAll(db).map { $0["name"] as String }.sorted())
        }

        // The latest message of each chat.
        try dbQueue.read { db in
            let latestMessageCTE = CommonTableExpression<Void>(
                named: "latestMessage", request: Message.annotated(with: max(Column("date"))).group(Column("chatId")))
            let latestMessage = Chat.association(
                to: latestMessageCTE,
                on: { chat, latestMessage in chat[Column("id")] == latestMessage[Column("chatId")] }
            ).order(Column("date").desc)
            let request = Chat.with(latestMessageCTE).including(optional: latestMessage).asRequest(of: ChatInfo.self)
            for info in try request.fetchAll(db) {
                print(info.chat.topic, info.latestMessage?.text ?? "-")
            }
            let talked = Chat.with(latestMessageCTE).joining(required: latestMessage)
            print(try talked.fetchCount(db), try talked.fetchAll(db).map(\.topic))
            enum Old {}
            let old = CommonTableExpression<Old>(named: "old", request: Message.filter(Column("date") < 25))
            let fromOld = old.association(
                to: Chat.self, on: { old, chat in old[Column("chatId")] == chat[Column("id")] })
            print(
                try old.all().with(old).including(required: fromOld.forKey("chat")).order(Column("id")).asRequest(
                    of: Row.self
                ).fetchAll(db)
                    .map { "\($0["text"] as String) \(($0.scopes["chat"]?["topic"] as String?) ?? "-")" })
        }

        try dbQueue.write { db in
            let low = CommonTableExpression<Void>(named: "low", request: Employee.select(min(Column("salary"))))
            print(
                try Employee.with(low).filter(Column("salary") == low.all()).updateAll(db, Column("salary").set(to: 35))
            )
            print(try Employee.select(sum(Column("salary")), as: Int.self).fetchOne(db) ?? -1)
            do {
                try Employee.deleteOne(db, key: 3)
            } catch DatabaseError.SQLITE_CONSTRAINT_TRIGGER, DatabaseError.SQLITE_CONSTRAINT_FOREIGNKEY {
                print("a manager stays")
            }
        }
    }
}

private struct Employee: Codable, FetchableRecord, PersistableRecord {
    static let manager = belongsTo(Employee.self, key: "manager")
    static let subordinates = hasMany(Employee.self, key: "subordinates")
    var id: Int64
    var name: String
    var managerId: Int64?
    var salary: Int
}

private struct EmployeeInfo: Decodable, FetchableRecord {
    var employee: Employee
    var manager: Employee?
}

private struct Team: Decodable, FetchableRecord {
    var employee: Employee
    var subordinates: [Employee]
}

private struct Chain: Decodable, FetchableRecord {
    var employee: Employee
    var manager: Employee
    var grandManager: Employee?
}

private struct Chat: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var topic: String
}

private struct Message: Codable, FetchableRecord, PersistableRecord {
    var chatId: Int64
    var text: String
    var date: Int
}

private struct ChatInfo: Decodable, FetchableRecord {
    var chat: Chat
    var latestMessage: Message?
}
