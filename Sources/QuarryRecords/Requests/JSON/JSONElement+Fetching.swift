import QuarryCore
public import QuarrySQL

extension JSONElement: FetchableRecord {}
