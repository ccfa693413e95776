import Testing

/// The tests under load, one after the other.
///
/// Each has a process of its own. The testing library waits for it on one of Swift's threads, of which there are few:
/// several at a time would leave none to other tests.
@Suite(.serialized, .timeLimit(.minutes(60))) enum UnderLoad {}
