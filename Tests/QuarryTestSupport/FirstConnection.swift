/// A connection of Quarry's that is opened before SQLite starts otherwise.
///
/// SQLite takes an error log only before it starts, which registering a file system makes it do.
enum FirstConnection {
    static let isOpened = (try? TestConnection(path: ":memory:")) != nil
}
