import Foundation
import Quarry
import QuarryShared

/// Replaces and moves the files of a shared database again and again, until it is killed. Each file has one row.
func replaceForever(path: String, folder: String) throws {
    let database = SharedDatabase(path: path)
    writeAll("ready\n", to: 1)
    var number = 0
    while true {
        number += 1
        let new = "\(folder)/new-\(getpid())-\(number)"
        do {
            let queue = try DatabaseQueue(path: new)
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (?)", arguments: [number])
            }
            try queue.close()
        }
        try database.withClosedDatabase { files in try files.replace(with: new) }
        writeAll("replaced \(number)\n", to: 1)
        try database.write { db in try db.execute(sql: "UPDATE t SET a = a + 1") }
        if number % 8 == 0 {
            try database.withClosedDatabase { files in
                try files.copy(to: new)
                try files.move(to: "\(folder)/moved", overwrites: true)
                try files.replace(with: new)
            }
        }
    }
}
