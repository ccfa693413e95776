/// The object that the layer above keeps with a connection.
package protocol DatabaseContext: AnyObject, Sendable {
    /// A setting of the connection, by its type; nil if it isn't set.
    func setting<Setting: Sendable>(_ type: Setting.Type) -> Setting?
}
