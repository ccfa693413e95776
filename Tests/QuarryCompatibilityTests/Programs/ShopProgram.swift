import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Aggregates of associations, conditions on associated records, and aliases.
enum ShopProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "customer") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("city", .text)
            }
            try db.create(table: "purchase") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("customer", onDelete: .cascade).notNull()
                t.column("day", .integer).notNull()
            }
            try db.create(table: "item") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("purchase").notNull()
                t.column("product", .text).notNull()
                t.column("price", .integer).notNull()
                t.column("quantity", .integer).notNull().defaults(to: 1)
            }
            try db.execute(
                sql: """
                    INSERT INTO customer VALUES (1, 'Ada', 'Lyon'), (2, 'Ben', NULL), (3, 'Cleo', 'Nice');
                    INSERT INTO purchase VALUES (1, 1, 10), (2, 1, 20), (3, 2, 15);
                    INSERT INTO item VALUES (1, 1, 'pen', 3, 2), (2, 1, 'ink', 9, 1);
                    INSERT INTO item VALUES (3, 2, 'pen', 4, 1), (4, 3, 'desk', 150, 1);
                    """)
        }

        try dbQueue.read { db in
            let rows = try Customer.annotated(with: Customer.purchases.count, Customer.purchases.max(Column("day")))
                .order(Column("id")).asRequest(of: CustomerInfo.self).fetchAll(db)
            print(rows.map { "\($0.customer.name) \($0.purchaseCount) \($0.maxPurchaseDay ?? -1)" })
            print(try Customer.having(Customer.purchases.isEmpty).fetchAll(db).map(\.name))
            print(try Customer.having(!Customer.purchases.isEmpty).order(Column("id")).fetchAll(db).map(\.name))
            print(try Customer.having(Customer.purchases.count >= 2).fetchCount(db))
            print(
                try Customer.having(Customer.purchases.count > 0 && Customer.items.min(Column("price")) > 10).fetchAll(
                    db
                ).map(\.name))
            print(
                try Customer.annotated(with: Customer.items.sum(Column("price") * Column("quantity")).forKey("spent"))
                    .order(Column("spent").detached.desc).asRequest(of: Row.self).fetchAll(db).map {
                        $0["spent"] as Int? ?? 0
                    })
            print(
                try Customer.annotated(
                    with: Customer.items.total(Column("price")).forKey("total"),
                    Customer.items.average(Column("price")) ?? 0
                )
                .filter(key: 1).asRequest(of: Row.self).fetchOne(db)!)
            print(
                try Customer.annotated(with: (Customer.items.count - Customer.purchases.count).forKey("extra"))
                    .order(Column("id")).asRequest(of: Row.self).fetchAll(db).map { $0["extra"] as Int })
            print(
                try Customer.annotated(with: Customer.purchases.filter(Column("day") > 10).forKey("late").count)
                    .order(Column("id")).asRequest(of: Row.self).fetchAll(db).map { $0["lateCount"] as Int })
            print(
                try Customer.having(Customer.purchases.filter(Column("day") < 12).isEmpty == false).fetchAll(db).map(
                    \.name))
            print(try Purchase.having(Purchase.items.count == 2).fetchCount(db))
        }

        try dbQueue.read { db in
            let customer = TableAlias()
            print(
                try Purchase.joining(required: Purchase.customer.aliased(customer))
                    .filter(customer[Column("city")] != nil && Column("day") > 5)
                    .order(customer[Column("name")].desc, Column("day")).fetchAll(db).map(\.id))
            let purchase = TableAlias(name: "p")
            print(try Purchase.aliased(purchase).filter(sql: "p.day = ?", arguments: [20]).fetchAll(db).map(\.id))
            print(
                try Item.annotated(withRequired: Item.purchase.select(Column("day")))
                    .annotated(
                        withOptional: Item.customer.select(Column("name").forKey("customerName"), Column("city"))
                    )
                    .order(Column("id")).asRequest(of: Row.self).fetchAll(db))
            print(
                try Item.including(
                    required: Item.purchase.including(required: Purchase.customer.filter(Column("name").like("A%")))
                )
                .order(Column("id")).asRequest(of: ItemInfo.self).fetchAll(db)
                .map { "\($0.item.product) \($0.purchase.day) \($0.customer.name)" })
            print(
                try Customer.joining(required: Customer.items.filter(Column("product") == "pen")).distinct().fetchAll(
                    db
                ).map(\.name))
            let items = Customer.items.filter(Column("price") < 5).order(Column("price").desc)
            for info in try Customer.including(all: items).including(
                all: Customer.purchases.forKey("orders").order(Column("day").desc)
            )
            .orderByPrimaryKey().asRequest(of: CustomerDetail.self).fetchAll(db) {
                print(info.customer.name, info.items.map(\.price), info.orders.map(\.day))
            }
            let cheap = Purchase.items.filter(Column("price") < 5).forKey("cheapItems")
            let dear = Purchase.items.filter(Column("price") >= 5).forKey("dearItems")
            print(
                try Purchase.including(all: cheap).including(all: dear).order(Column("id")).asRequest(of: Prices.self)
                    .fetchAll(db)
                    .map { "\($0.cheapItems.count)/\($0.dearItems.count)" })
            let lastDay = Purchase.filter { $0.customerId == 1 }.select(max(Column("day")), as: Int.self)
            print(try Purchase.filter(Column("day") == lastDay).fetchAll(db).map(\.id))
            let buyers = Purchase.select(Column("customerId"))
            print(try Customer.filter(!buyers.contains(Column("id"))).fetchAll(db).map(\.name))
            let buyer = TableAlias(for: Customer.self)
            let late = Purchase.filter { $0.customerId == buyer.id && $0.day > 18 }
            print(try Customer.all().aliased(buyer).filter(late.exists()).fetchAll(db).map(\.name))
            print(
                try Customer.annotated(with: [
                    Column("name").uppercased.forKey("upper"), length(Column("city")).forKey("size"),
                ])
                .order(Column("name").desc).asRequest(of: Row.self).fetchAll(db).map {
                    "\($0["upper"] as String) \($0["size"] as Int? ?? 0)"
                })
            print(try Customer.order(Column("city").ascNullsLast, Column("name")).fetchAll(db).map(\.name))
        }
    }
}

private struct Customer: Codable, FetchableRecord, PersistableRecord {
    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
    }
    static let purchases = hasMany(Purchase.self)
    static let items = hasMany(Item.self, through: purchases, using: Purchase.items)
    var id: Int64
    var name: String
    var city: String?
}

private struct Purchase: Codable, FetchableRecord, PersistableRecord {
    enum Columns {
        static let id = Column(CodingKeys.id)
        static let customerId = Column(CodingKeys.customerId)
        static let day = Column(CodingKeys.day)
    }
    static let customer = belongsTo(Customer.self)
    static let items = hasMany(Item.self)
    var id: Int64
    var customerId: Int64
    var day: Int
}

private struct Item: Codable, FetchableRecord, PersistableRecord {
    static let purchase = belongsTo(Purchase.self)
    static let customer = hasOne(Customer.self, through: purchase, using: Purchase.customer)
    var id: Int64
    var purchaseId: Int64
    var product: String
    var price: Int
    var quantity: Int
}

private struct CustomerInfo: Decodable, FetchableRecord {
    var customer: Customer
    var purchaseCount: Int
    var maxPurchaseDay: Int?
}

private struct ItemInfo: Decodable, FetchableRecord {
    var item: Item
    var purchase: Purchase
    var customer: Customer
}

private struct CustomerDetail: Decodable, FetchableRecord {
    var customer: Customer
    var items: [Item]
    var orders: [Purchase]
}

private struct Prices: Decodable, FetchableRecord {
    var cheapItems: [Item]
    var dearItems: [Item]
}
