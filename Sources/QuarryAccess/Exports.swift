@_exported public import QuarryCore
