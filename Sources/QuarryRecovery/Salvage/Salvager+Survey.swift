import Quarry
import QuarryCore

extension Salvager {
    /// A tree that the schema names.
    struct Tree {
        let object: SchemaObject
        let kind: TreeWalk.Kind
        let content: Content
        /// Whether the records of a page can belong to the tree.
        let accepts: (TreeWalk.Content) -> Bool

        enum Content {
            /// The rows of a table, which a virtual table owns or not.
            case rows(SalvageTarget.Table, isOwned: Bool)
            /// The rows of `sqlite_sequence`.
            case sequences(SalvageTarget.Table)
            /// Rows that are made anew, such as those of a full-text index.
            case remade
            /// The rows of a table that couldn't be created.
            case unknown
            /// The entries of an index, with the number of their values if it is known.
            case index(Int?)
        }
    }

    /// The trees of the schema, those of tables first.
    func trees(_ target: SalvageTarget) throws -> [Tree] {
        let objects = objects.filter { $0.root > 0 }
        return try objects.filter { $0.kind == .table }.map { try tree($0, target) }
            + objects.filter { $0.kind == .index }.map(tree(ofIndex:))
    }

    private func tree(_ object: SchemaObject, _ target: SalvageTarget) throws -> Tree {
        switch object.name.lowercased() {
        case "sqlite_sequence":
            let shape = RowShape(columns: [
                RowShape.Column(name: "name", affinity: .blob), RowShape.Column(name: "seq", affinity: .blob),
            ])
            let table = SalvageTarget.Table(
                name: "sqlite_sequence", shape: shape, rowIDName: "rowid", isWithoutRowID: false)
            return Tree(object: object, kind: .table, content: .sequences(table)) { self.fits($0, shape) }
        case let name where name.hasPrefix("sqlite_stat"):
            hasStatistics = true
            return tree(object, .remade)
        default: break
        }
        let owner = self.objects.first { $0.isVirtual && ShadowTable(object.name, of: $0) != nil }
        let isOwned = owner.map { owner in
            !report.lostObjects.contains { $0.type == "table" && $0.name == owner.name }
        }
        if isOwned == true, let owner, case .rebuilt? = ShadowTable(object.name, of: owner) {
            return tree(object, .remade)
        }
        guard let table = try target.table(object.name) else { return tree(object, .unknown) }
        return Tree(
            object: object, kind: table.isWithoutRowID ? .index : .table,
            content: .rows(table, isOwned: isOwned == true)
        ) { self.fits($0, table.shape) }
    }

    /// A tree of whose rows nothing is known: its root tells its kind.
    private func tree(_ object: SchemaObject, _ content: Tree.Content) -> Tree {
        let isIndex = root(of: object).map { !$0.page.kind.isTable } ?? false
        return Tree(object: object, kind: isIndex ? .index : .table, content: content) { _ in true }
    }

    private func root(of object: SchemaObject) -> TreeWalk.Content? {
        guard let bytes = source.page(object.root),
            let page = BTreePage(bytes, number: object.root, usableSize: source.header.usableSize)
        else { return nil }
        return TreeWalk.Content(number: object.root, bytes: bytes, page: page, keys: KeyRange())
    }

    /// The entries of an index end with a rowid, and have the same number of values.
    private func tree(ofIndex object: SchemaObject) -> Tree {
        let count = root(of: object).flatMap { root in
            root.page.cells.lazy.compactMap { self.record(root, $0) }.first(where: \.isComplete)?.values.count
        }
        return Tree(object: object, kind: .index, content: .index(count)) { content in
            let records = content.page.cells.prefix(8).compactMap { self.record(content, $0) }.filter(\.isComplete)
            return records.allSatisfy { $0.values.count == count ?? $0.values.count }
        }
    }

    /// Walks all trees before a row is written: which pages several trees have, which overflow pages several rows have,
    /// and which pages aren't used.
    func survey(_ trees: [Tree]) throws {
        var walk = walk
        for tree in trees {
            let pagesOfOthers = walk.used
            _ = try walk.walk(tree.kind, root: tree.object.root, accepts: tree.accepts) { content in
                try mayGoOn()
                if pagesOfOthers.contains(content.number) { sharedPages.insert(content.number) }
                payloads.claim(content)
            }
        }
        free = source.freePages(used: walk.used)
        // Pages without a tree may have rows that are in use. If not all unused pages are known, they may be deleted.
        guard free.isSound else { return }
        payloads.freePages = free.pages
        for number in source.pageNumbers {
            try mayGoOn()
            if walk.used.contains(number) {
                if free.pages.contains(number) { sharedPages.insert(number) }
            } else if !free.pages.contains(number), !payloads.isClaimed(number), let content = orphan(number) {
                payloads.claim(content)
            }
        }
    }
}
