// A test that imports the support has `expectError` too.
@_exported public import QuarryExpectations
