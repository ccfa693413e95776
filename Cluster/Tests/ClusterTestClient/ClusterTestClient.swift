import Foundation
import Quarry
import QuarryCluster

/// Changes a cluster's database in a transaction, prints a line, and waits in the transaction until it is killed.
@main struct ClusterTestClient {
    static func main() throws {
        let arguments = CommandLine.arguments
        let cluster = try DatabaseCluster(nodes: Array(arguments[2...]), name: arguments[1])
        try cluster.write { db in
            try db.execute(sql: "INSERT INTO item (name) VALUES ('half')")
            try db.execute(sql: "UPDATE item SET name = name || '!'")
            print("wrote")
            fflush(nil)
            // The end of the input is the end of the test.
            _ = readLine()
            throw DatabaseError(resultCode: .SQLITE_ABORT, message: "the test has ended")
        }
    }
}
