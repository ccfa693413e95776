import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Transactions, savepoints, errors and their codes, and statements that are traced.
enum TransactionsProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "account") { t in
                t.primaryKey("id", .integer)
                t.column("balance", .integer).notNull().check { $0 >= 0 }
            }
            try db.execute(sql: "INSERT INTO account VALUES (1, 100), (2, 0)")
        }
        func balances() throws -> [Int] {
            try dbQueue.read { try Int.fetchAll($0, sql: "SELECT balance FROM account ORDER BY id") }
        }

        try transfer(30, in: dbQueue)
        print(try balances())
        do {
            try transfer(300, in: dbQueue)
        } catch DatabaseError.SQLITE_CONSTRAINT {
            print("too much", try balances())
        }
        do {
            try dbQueue.write { db in
                try db.execute(sql: "UPDATE account SET balance = 0")
                throw Refusal(reason: "changed my mind")
            }
        } catch let refusal as Refusal {
            print(refusal.reason, try balances())
        }
        try dbQueue.inTransaction { db in
            try db.execute(sql: "DELETE FROM account")
            return .rollback
        }
        try dbQueue.inDatabase { db in
            try db.inTransaction(.exclusive) {
                try db.execute(sql: "UPDATE account SET balance = balance + 1")
                return .commit
            }
            try db.inSavepoint {
                try db.execute(sql: "UPDATE account SET balance = balance + 10")
                try db.inSavepoint {
                    try db.execute(sql: "DELETE FROM account")
                    return .rollback
                }
                do {
                    try db.inSavepoint {
                        try db.execute(sql: "DELETE FROM account WHERE id = 1")
                        throw Refusal(reason: "inner")
                    }
                } catch let refusal as Refusal {
                    print(refusal.reason, db.isInsideTransaction)
                }
                return .commit
            }
            print(db.isInsideTransaction, try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM account") ?? -1)
            try db.beginTransaction()
            try db.execute(sql: "UPDATE account SET balance = 7 WHERE id = 2")
            try db.rollback()
            try db.beginTransaction(.immediate)
            try db.execute(sql: "UPDATE account SET balance = 8 WHERE id = 2")
            try db.commit()
            try db.readOnly {
                do {
                    try db.execute(sql: "DELETE FROM account")
                } catch DatabaseError.SQLITE_READONLY {
                    print("read only")
                }
            }
        }
        print(try balances())
        do {
            try dbQueue.read { try $0.execute(sql: "DELETE FROM account") }
        } catch let error as DatabaseError {
            print(error.resultCode == .SQLITE_READONLY, error.message ?? "", error.sql ?? "")
        }

        try dbQueue.write { db in
            db.afterNextTransaction { _ in print("committed") }
            let first = try db.transactionDate
            print(try db.transactionDate == first)
        }
        do {
            try dbQueue.write { db in
                db.afterNextTransaction(
                    onCommit: { _ in print("committed") }, onRollback: { _ in print("rolled back") })
                throw Refusal(reason: "")
            }
        } catch is Refusal {}

        // Errors.
        try dbQueue.writeWithoutTransaction { db in
            for sql in [
                "INSERT INTO account VALUES (1, 1)", "INSERT INTO account VALUES (9, NULL)",
                "INSERT INTO account VALUES (9, -1)", "SELEC", "SELECT * FROM nothing",
            ] {
                do {
                    try db.execute(sql: sql)
                } catch let error as DatabaseError {
                    print(
                        error.resultCode.rawValue, error.extendedResultCode.rawValue, error.message ?? "",
                        error.sql ?? "")
                    print(error.description, error.localizedDescription == error.description)
                }
            }
            do {
                try db.execute(sql: "INSERT INTO account VALUES (?, ?)", arguments: [1, 2])
            } catch DatabaseError.SQLITE_CONSTRAINT_UNIQUE {
                print("unique")
            } catch DatabaseError.SQLITE_CONSTRAINT_PRIMARYKEY {
                print("primary key")
            }
            do {
                try db.execute(sql: "INSERT INTO account VALUES (?, ?)", arguments: [1, 2])
            } catch let error as DatabaseError {
                print(error, error.expandedDescription)
            }
            do {
                throw DatabaseError(resultCode: .SQLITE_FULL, message: "the disk")
            } catch let error as DatabaseError {
                print(
                    error, error.isInterruptionError, error.resultCode ~= .SQLITE_FULL,
                    ResultCode.SQLITE_CONSTRAINT ~= .SQLITE_CONSTRAINT_CHECK)
            }
            print(
                ResultCode.SQLITE_IOERR_READ.primaryResultCode == .SQLITE_IOERR,
                ResultCode(rawValue: 19) == .SQLITE_CONSTRAINT)
        }

        // Statements are told as they run.
        try dbQueue.writeWithoutTransaction { db in
            db.trace { print("trace:", $0) }
            _ = try Int.fetchOne(db, sql: "SELECT balance FROM account WHERE id = ?", arguments: [1])
            db.trace(options: .statement) { event in
                if case .statement(let statement) = event { print(statement.sql, "|", statement.expandedSQL) }
            }
            try db.execute(sql: "DELETE FROM account WHERE id = ?", arguments: [2])
            db.trace(options: [], nil)
            try db.execute(sql: "DELETE FROM account")
        }
    }

    private static func transfer(_ amount: Int, in writer: some DatabaseWriter) throws {
        try writer.write { db in
            try db.execute(sql: "UPDATE account SET balance = balance + ? WHERE id = 2", arguments: [amount])
            try db.execute(sql: "UPDATE account SET balance = balance - ? WHERE id = 1", arguments: [amount])
        }
    }
}

private struct Refusal: Error {
    var reason: String
}
