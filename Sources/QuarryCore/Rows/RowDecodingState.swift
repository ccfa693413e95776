/// What a layer above keeps with a row, from one row of a cursor to the next.
package protocol RowDecodingState: AnyObject {
    /// The row is gone: what would keep the state alive is to be released.
    func invalidate()
}
