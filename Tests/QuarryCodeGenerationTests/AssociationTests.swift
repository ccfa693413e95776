import QuarryCodeGeneration
import Testing

@Suite struct AssociationTests {
    /// The associations of the types of a schema, as they are written.
    private func associations(_ sql: String) throws -> [String] {
        let code = try code(for: sql)
        return code.files.flatMap { file -> [String] in
            file.text.split(separator: "\n").filter { $0.contains("(") && $0.hasPrefix("    static let ") }
                .map { file.name.dropLast(6) + String($0.dropFirst("    static let ".count - 1)) }
        }.filter { !$0.contains("databaseTableName") }
    }

    @Test func oneKey() throws {
        #expect(
            try associations(
                """
                CREATE TABLE team (id INTEGER PRIMARY KEY);
                CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER REFERENCES team);
                """) == ["Team players = hasMany(Player.self)", "Player team = belongsTo(Team.self)"])
    }

    @Test func aUniqueKeyHasOne() throws {
        #expect(
            try associations(
                """
                CREATE TABLE users (id INTEGER PRIMARY KEY);
                CREATE TABLE profiles (user_id INTEGER PRIMARY KEY REFERENCES users);
                CREATE TABLE settings (id INTEGER PRIMARY KEY, owner INTEGER UNIQUE REFERENCES users);
                """) == [
                    "User profile = hasOne(Profile.self)", "User setting = hasOne(Setting.self)",
                    "Profile user = belongsTo(User.self)", "Setting owner = belongsTo(User.self, key: \"owner\")",
                ])
    }

    @Test func severalKeysToOneTable() throws {
        #expect(
            try associations(
                """
                CREATE TABLE team (id INTEGER PRIMARY KEY);
                CREATE TABLE match (home_id INTEGER REFERENCES team (id), guest_id INTEGER REFERENCES team);
                """) == [
                    "Team matchesByHome = hasMany(Match.self, key: \"matchesByHome\", "
                        + "using: ForeignKey([\"home_id\"], to: [\"id\"]))",
                    "Team matchesByGuest = hasMany(Match.self, key: \"matchesByGuest\", using: ForeignKey([\"guest_id\"], to: [\"id\"]))",
                    "Match home = belongsTo(Team.self, key: \"home\", using: ForeignKey([\"home_id\"], to: [\"id\"]))",
                    "Match guest = belongsTo(Team.self, key: \"guest\", using: ForeignKey([\"guest_id\"], to: [\"id\"]))",
                ])
    }

    @Test func keysOfSeveralColumns() throws {
        #expect(
            try associations(
                """
                CREATE TABLE orders (country TEXT, number INTEGER, PRIMARY KEY (country, number));
                CREATE TABLE lines (
                    country TEXT, number INTEGER, position INTEGER, PRIMARY KEY (country, number, position),
                    FOREIGN KEY (country, number) REFERENCES orders);
                CREATE TABLE notes (
                    c1 TEXT, n1 INTEGER, c2 TEXT, n2 INTEGER, FOREIGN KEY (c1, n1) REFERENCES orders,
                    FOREIGN KEY (c2, n2) REFERENCES orders (country, number));
                """) == [
                    "Order lines = hasMany(Line.self)",
                    "Order notesByOrderRow = hasMany(Note.self, key: \"notesByOrderRow\", "
                        + "using: ForeignKey([\"c1\", \"n1\"], to: [\"country\", \"number\"]))",
                    "Order notesByOrderRow2 = hasMany(Note.self, key: \"notesByOrderRow2\", "
                        + "using: ForeignKey([\"c2\", \"n2\"], to: [\"country\", \"number\"]))",
                    "Line orderRow = belongsTo(Order.self, key: \"orderRow\")",
                    "Note orderRow = belongsTo(Order.self, key: \"orderRow\", using: ForeignKey([\"c1\", \"n1\"], to: [\"country\", \"number\"]))",
                    "Note orderRow2 = belongsTo(Order.self, key: \"orderRow2\", "
                        + "using: ForeignKey([\"c2\", \"n2\"], to: [\"country\", \"number\"]))",
                ])
    }

    @Test func aTableThatRefersToItself() throws {
        #expect(
            try associations(
                """
                CREATE TABLE employee (
                    id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES employee, boss INTEGER REFERENCES employee);
                """) == [
                    "Employee parent = belongsTo(Employee.self, key: \"parent\", using: ForeignKey([\"parent_id\"], to: [\"id\"]))",
                    "Employee boss = belongsTo(Employee.self, key: \"boss\", using: ForeignKey([\"boss\"], to: [\"id\"]))",
                    "Employee children = hasMany(Employee.self, key: \"children\", using: ForeignKey([\"parent_id\"], to: [\"id\"]))",
                    "Employee employeesByBoss = hasMany(Employee.self, key: \"employeesByBoss\", "
                        + "using: ForeignKey([\"boss\"], to: [\"id\"]))",
                ])
    }

    @Test func aTableThatIsNotThere() throws {
        #expect(try associations("CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES nowhere)") == [])
    }
}
