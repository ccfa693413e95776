/// A value of a nested container of a record, until the record is encoded and the value becomes JSON.
final class JSONNode: Encodable {
    private enum Content {
        /// Nothing yet.
        case empty
        case null
        case value(any Encodable)
        case object([(key: JSONKey, node: JSONNode)])
        case list([JSONNode])
    }

    /// The record type whose property becomes JSON.
    let recordType: any RecordEncodingStrategies.Type

    private var content = Content.empty

    init(of recordType: any RecordEncodingStrategies.Type) { self.recordType = recordType }

    /// A node of a record that has ended.
    static var unused: JSONNode {
        enum EndedRecord: RecordEncodingStrategies {}
        return JSONNode(of: EndedRecord.self)
    }

    var count: Int { if case .list(let nodes) = content { nodes.count } else { 0 } }

    func setNull() { content = .null }

    func set(_ value: any Encodable) { content = .value(value) }

    /// Makes it an object, which it may be already.
    func beginObject() { if case .object = content { return } else { content = .object([]) } }

    /// Makes it a list, which it may be already.
    func beginList() { if case .list = content { return } else { content = .list([]) } }

    /// A node in the object.
    func node(forKey key: any CodingKey) -> JSONNode {
        var nodes: [(key: JSONKey, node: JSONNode)] = []
        if case .object(let known) = content { nodes = known }
        let node = JSONNode(of: recordType)
        let key = JSONKey(key)
        nodes.removeAll { $0.key.stringValue == key.stringValue }
        nodes.append((key, node))
        content = .object(nodes)
        return node
    }

    /// A node at the end of the list.
    func appendNode() -> JSONNode {
        var nodes: [JSONNode] = []
        if case .list(let known) = content { nodes = known }
        let node = JSONNode(of: recordType)
        content = .list(nodes + [node])
        return node
    }

    func encode(to encoder: any Encoder) throws {
        switch content {
        case .empty:
            // As `JSONEncoder` does for a type that encodes nothing.
            _ = encoder.container(keyedBy: JSONKey.self)
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .value(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .object(let nodes):
            var container = encoder.container(keyedBy: JSONKey.self)
            for (key, node) in nodes { try container.encode(node, forKey: key) }
        case .list(let nodes):
            var container = encoder.unkeyedContainer()
            for node in nodes { try container.encode(node) }
        }
    }
}

/// A key of any type.
struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ key: any CodingKey) {
        stringValue = key.stringValue
        intValue = key.intValue
    }

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}

/// Encodes into a node.
struct JSONNodeEncoder: Encoder {
    let node: JSONNode
    let codingPath: [any CodingKey]

    var userInfo: [CodingUserInfoKey: Any] { node.recordType.databaseEncodingUserInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.beginObject()
        return KeyedEncodingContainer(JSONKeyedContainer<Key>(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beginList()
        return JSONListContainer(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        JSONSingleValueContainer(node: node, codingPath: codingPath)
    }
}

private struct JSONKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode
    let codingPath: [any CodingKey]

    private func encoder(_ key: any CodingKey) -> JSONNodeEncoder {
        JSONNodeEncoder(node: node.node(forKey: key), codingPath: codingPath + [key])
    }

    func encodeNil(forKey key: Key) { node.node(forKey: key).setNull() }
    func encode<T: Encodable>(_ value: T, forKey key: Key) { node.node(forKey: key).set(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder(JSONKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }
}

private struct JSONListContainer: UnkeyedEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]

    var count: Int { node.count }

    private func encoder() -> JSONNodeEncoder {
        let path = codingPath + [JSONKey(intValue: count)]
        return JSONNodeEncoder(node: node.appendNode(), codingPath: path)
    }

    func encodeNil() { node.appendNode().setNull() }
    func encode<T: Encodable>(_ value: T) { node.appendNode().set(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }
}

private struct JSONSingleValueContainer: SingleValueEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.setNull() }
    func encode<T: Encodable>(_ value: T) { node.set(value) }
}
