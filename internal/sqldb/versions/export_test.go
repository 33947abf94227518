package versions

// Keys are the columns by which the rows of some tables are told apart.
var Keys = keys
