// Tables by their names, beside tables with a type.
import Quarry

struct Parent: TableRecord, FetchableRecord {
    init(row: Row) throws {}
}

struct Child: TableRecord, FetchableRecord {
    static let parents = [belongsTo(Parent.self), belongsTo(Table("parent"))]

    init(row: Row) throws {}
}

func tables(_ db: Database, _ condition: Bool) throws {
    for association in [Child.belongsTo(Parent.self), Child.belongsTo(Table("parent"))] {
        let _: [Child] = try Child.including(required: association).fetchAll(db)
    }
    let association = condition ? Child.hasMany(Parent.self) : Child.hasMany(Table("parent"))
    let _: QueryInterfaceRequest<Child> = Child.including(all: association)

    let chosen = condition ? Table<Parent>("a") : Table("b")
    let _: [Parent] = try chosen.fetchAll(db)
    for table in [Table("a"), Table<Parent>("b")] { let _: [Parent] = try table.fetchAll(db) }
    let _: Table<Parent> = condition ? Table("a") : Table("b")

    // Alone, a table has rows.
    let rows = condition ? Table("a") : Table("b")
    let _: [Row] = try rows.fetchAll(db)
    let named = Table("a").aliased(TableAlias(name: "p")).filter(sql: "p.score > 100")
    let _: QueryInterfaceRequest<Row> = named
    let alias = TableAlias()
    let _: QueryInterfaceRequest<Parent> = Table<Parent>("a").aliased(alias)
    let _: QueryInterfaceRequest<Parent> = Table<Parent>("a").aliased(TableAlias(name: "p"))
}
