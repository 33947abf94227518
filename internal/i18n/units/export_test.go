package units

// Names calls yield for every name of a unit in every language.
func Names(yield func(name, key string)) { names(yield) }
