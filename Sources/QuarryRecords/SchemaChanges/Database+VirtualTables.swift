public import QuarryCore
public import QuarrySQL

extension Database {
    /// Creates a virtual table.
    ///
    /// ```swift
    /// try db.create(virtualTable: "document", using: "fts5(title, body)")
    /// ```
    /// ```sql
    /// CREATE VIRTUAL TABLE "document" USING fts5(title, body)
    /// ```
    ///
    /// See <https://www.sqlite.org/vtab.html>.
    ///
    /// - parameter name: the table's name.
    /// - parameter schemaName: the name of an attached database; nil for `main`, or for `temp` if the table is
    ///   temporary.
    /// - parameter options: the options of the statement, such as `.ifNotExists`.
    /// - parameter module: the module and its arguments, in SQL.
    /// - throws: `DatabaseError`: "no such module: fts6"; the module's errors.
    public func create(
        virtualTable name: String, in schemaName: String? = nil, options: VirtualTableOptions = [],
        using module: String
    ) throws {
        let statement = VirtualTableStatement(name: name, schemaName: schemaName, options: options, module: module)
        try execute(sql: statement.sql)
    }

    /// Creates a virtual table.
    ///
    /// ```swift
    /// try db.create(virtualTable: "book", using: "fts5(title, body)")
    /// ```
    /// ```sql
    /// CREATE VIRTUAL TABLE "book" USING fts5(title, body)
    /// ```
    ///
    /// - throws: `DatabaseError`: "no such module: fts6"; the module's errors.
    @_disfavoredOverload
    public func create(virtualTable name: String, ifNotExists: Bool = false, using module: String) throws {
        try create(virtualTable: name, options: ifNotExists ? .ifNotExists : [], using: module)
    }

    /// Creates a virtual table with a module's own definition, in a savepoint.
    ///
    /// ```swift
    /// try db.create(virtualTable: "area", using: RTree()) { t in t.columns = ["id", "minX", "maxX"] }
    /// ```
    /// ```sql
    /// CREATE VIRTUAL TABLE "area" USING rtree(id, minX, maxX)
    /// ```
    ///
    /// - parameter tableName: the table's name.
    /// - parameter schemaName: the name of an attached database; nil for `main`, or for `temp` if the table is
    ///   temporary.
    /// - parameter options: the options of the statement, such as `.ifNotExists`.
    /// - parameter module: the module.
    /// - parameter body: defines the table; nil if the module needs no definition.
    /// - throws: the errors of `body` and of the module; `DatabaseError`. Then nothing is created.
    public func create<Module: VirtualTableModule>(
        virtualTable tableName: String, in schemaName: String? = nil, options: VirtualTableOptions = [],
        using module: Module, _ body: ((Module.TableDefinition) throws -> Void)? = nil
    ) throws {
        try checkAccess()
        let configuration = VirtualTableConfiguration(
            tableName: tableName, schemaName: options.contains(.temporary) ? "temp" : schemaName, options: options)
        let definition = module.makeTableDefinition(configuration: configuration)
        try body?(definition)
        try inSavepoint {
            let arguments = try module.moduleArguments(for: definition, in: self)
            let list = arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))"
            try create(virtualTable: tableName, in: schemaName, options: options, using: module.moduleName + list)
            try module.database(self, didCreate: tableName, using: definition)
            return .commit
        }
    }

    /// Creates a virtual table with a module's own definition, in a savepoint.
    ///
    /// - throws: the errors of `body` and of the module; `DatabaseError`. Then nothing is created.
    @_disfavoredOverload
    public func create<Module: VirtualTableModule>(
        virtualTable tableName: String, ifNotExists: Bool = false, using module: Module,
        _ body: ((Module.TableDefinition) throws -> Void)? = nil
    ) throws {
        try create(virtualTable: tableName, options: ifNotExists ? .ifNotExists : [], using: module, body)
    }
}
