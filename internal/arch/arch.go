// Package arch holds, in its tests, the rules of the project's architecture: who
// may import whom, where a library may be used, how large a package, a file and a
// function may be, and that what the documents say of the code is true.
package arch
