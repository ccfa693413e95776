public import Dispatch

// Settings that have no effect in Quarry, for programs written for GRDB: no access runs on a dispatch queue.

extension Configuration {
    /// Has no effect: accesses run on the threads of their callers, or where `asyncExecution` says.
    @available(*, deprecated, message: "no access runs on a dispatch queue; see Configuration.asyncExecution")
    public var targetQueue: DispatchQueue? {
        get { nil }
        set { _ = newValue }
    }

    /// Has no effect: accesses run on the threads of their callers, or where `asyncExecution` says.
    @available(*, deprecated, message: "no access runs on a dispatch queue; see Configuration.asyncExecution")
    public var writeTargetQueue: DispatchQueue? {
        get { nil }
        set { _ = newValue }
    }

    /// Has no effect: an access has the priority of the requesting thread or task.
    @available(*, deprecated, message: "no access runs on a dispatch queue; see Configuration.asyncExecution")
    public var qos: DispatchQoS {
        get { .default }
        set { _ = newValue }
    }
}
