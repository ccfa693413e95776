import Foundation
import Quarry
import QuarryTestSupport
import Testing

struct TabDumpFormat: DumpFormat {
    var hasHeader = false

    mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) throws {
        if !hasHeader {
            stream.write(stream.columnNames(of: statement).joined(separator: "\t") + "\n")
            hasHeader = true
        }
        let values = stream.values(of: statement)
        stream.write(values.map { String.fromDatabaseValue($0) ?? "\($0)" }.joined(separator: "\t") + "\n")
    }

    mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        hasHeader = false
    }
}

/// The code of the article "Printing rows".
@Suite struct DumpSamples {
    struct Team: Codable, FetchableRecord, PersistableRecord {
        static let players = hasMany(Player.self)
        var id: Int64
        var name: String
    }

    struct Player: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
        var score: Int?
        var teamId: Int64
    }

    private func withPlayers(_ body: (DatabaseQueue) throws -> Void) throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.makeTeamTables()
            try db.execute(
                sql: """
                    INSERT INTO team VALUES (1, 'Reds'), (2, 'Blues');
                    INSERT INTO player VALUES (1, 'Arthur', 500, 1), (2, 'Barbara', NULL, 1), (3, 'Craig', 200, 2);
                    """)
        }
        try body(dbQueue)
    }

    @Test func printing() throws {
        try withPlayers { (dbQueue) throws in
            try dbQueue.dumpTables(["team"])
            try dbQueue.dumpSQL("SELECT name, score FROM player WHERE score > \(300)")
            try dbQueue.dumpRequest(Team.including(all: Team.players), format: .debug(header: true))
            try dbQueue.dumpSchema()
            try dbQueue.dumpContent()
            let text = try DumpedText.of { stream in
                try dbQueue.dumpRequest(Team.including(all: Team.players), format: .debug(header: true), to: stream)
            }
            #expect(
                text == """
                    id|name
                    1|Reds
                    2|Blues

                    players
                    id|name|score|teamId
                    1|Arthur|500|1
                    2|Barbara||1
                    3|Craig|200|2

                    """)
        }
    }

    @Test func formats() throws {
        try withPlayers { (dbQueue) throws in
            func dump(_ format: some DumpFormat) throws -> String {
                try DumpedText.of { stream in
                    try dbQueue.dumpSQL("SELECT name, score FROM player WHERE id < 3", format: format, to: stream)
                }
            }
            #expect(try dump(.debug()) == "Arthur|500\nBarbara|\n")
            #expect(try dump(.list()) == "Arthur|500\nBarbara|\n")
            #expect(try dump(.quote()) == "'Arthur',500\n'Barbara',NULL\n")
            #expect(
                try dump(.json()) == "[{\"name\":\"Arthur\",\"score\":500},\n{\"name\":\"Barbara\",\"score\":null}]\n")
            #expect(try dump(.line()) == " name = Arthur\nscore = 500\n\n name = Barbara\nscore = \n")
            #expect(try dump(.csv()) == "name,score\r\nArthur,500\r\nBarbara,\r\n")
            #expect(
                try dump(.markdown()) == """
                    | name    | score |
                    | ------- | ----: |
                    | Arthur  |   500 |
                    | Barbara |       |

                    """)
            #expect(try dump(TabDumpFormat()) == "name\tscore\nArthur\t500\nBarbara\tNULL\n")
        }
    }

    @Test func files() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("players.csv")
        try withPlayers { (dbQueue) throws in
            let file = try DumpFile(path: path)
            try dbQueue.dumpTables(["player"], format: .csv(), stableOrder: true, to: file)
            try file.close()
        }
        #expect(
            try String(contentsOfFile: path, encoding: .utf8)
                == "id,name,score,teamId\r\n1,Arthur,500,1\r\n2,Barbara,,1\r\n3,Craig,200,2\r\n")
    }
}
