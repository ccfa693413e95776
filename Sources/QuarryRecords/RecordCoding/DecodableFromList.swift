import QuarryCore

/// A collection that is decoded from the prefetched rows of another row.
protocol DecodableFromList {
    init(session: DecodingSession, _ list: PrefetchedRowsOfKey, _ parent: Int, _ key: any CodingKey) throws
}

extension Array: DecodableFromList where Element: Decodable {
    init(session: DecodingSession, _ list: PrefetchedRowsOfKey, _ parent: Int, _ key: any CodingKey) throws {
        self = try session.decodeList(Element.self, list, parent, at: key)
    }
}

extension ContiguousArray: DecodableFromList where Element: Decodable {
    init(session: DecodingSession, _ list: PrefetchedRowsOfKey, _ parent: Int, _ key: any CodingKey) throws {
        self.init(try session.decodeList(Element.self, list, parent, at: key))
    }
}

extension Set: DecodableFromList where Element: Decodable {
    init(session: DecodingSession, _ list: PrefetchedRowsOfKey, _ parent: Int, _ key: any CodingKey) throws {
        self.init(try session.decodeList(Element.self, list, parent, at: key))
    }
}
